// har-to-openapi over one HAR file; the document goes to stdout.
import { readFileSync } from 'node:fs';
import { generateSpec } from 'har-to-openapi';

const har = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { yamlSpec } = await generateSpec(har, { relaxedMethods: true, forceAllRequestsInSameSpec: true });
process.stdout.write(yamlSpec);
