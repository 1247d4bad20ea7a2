// har-to-openapi over one HAR file, each domain a document of its own; they go to stdout as a list.
import { readFileSync } from 'node:fs';
import { generateSpecs } from 'har-to-openapi';

const har = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const all = await generateSpecs(har, { relaxedMethods: true });
process.stdout.write(JSON.stringify(all.map((it) => ({ domain: it.domain, spec: it.spec }))));
