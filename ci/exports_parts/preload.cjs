// Every connection to a host under .test goes to the test web: $COMMIS_TEST_WEB is its port.
const net = require("net");
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  if (options && typeof options === "object" && /\.test$/.test(options.host ?? "")) {
    options.servername ??= options.host;
    options.host = "127.0.0.1";
    options.port = Number(process.env.COMMIS_TEST_WEB);
    delete options.lookup;
  }
  return connect.apply(this, args);
};
