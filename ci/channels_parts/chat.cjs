// The Bot API as telegram-test-api imitates it, at `chat.cjs PORT`, until its input ends. `MODULES` says where packages are.
const { createRequire } = require('node:module');
const TelegramServer = createRequire(`${process.env.MODULES}/-`)('telegram-test-api');

const server = new TelegramServer({ port: Number(process.argv[2]), host: '127.0.0.1', storeTimeout: 3600 });
server.start().then(() => console.log('up'));
process.stdin.resume().on('end', () => process.exit(0));
