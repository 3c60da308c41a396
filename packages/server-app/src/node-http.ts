/**
 * `node:http`, not imported by name: an import lists every member, and for the `WebSocket` among them Node.js loads all of `fetch`,
 * which costs a start more than anything of its own.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http')
