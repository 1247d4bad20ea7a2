// The tasks of a manifest as JSON: name, url, steps and the second example's values.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const { recipes } = parse(readFileSync(process.argv[2], 'utf8'));
const tasks = recipes.map(it => ({ name: it.name, url: it.url, steps: it.record ?? [], values: it.examples?.[1] ?? it.examples?.[0] ?? {} }));
console.log(JSON.stringify(tasks));
