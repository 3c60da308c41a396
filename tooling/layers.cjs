// Who may import whom. The dependency rules and ARCHITECTURE.md's table both read this; it is the only place.
module.exports = {
  protocol: [],
  ports: ['protocol'],
  core: ['protocol', 'ports'],
  'in-memory': ['protocol', 'ports'],
  testkit: ['protocol', 'ports'],
  sqlite: ['protocol', 'ports'],
  'platform-node': ['protocol', 'ports'],
  mcp: ['protocol', 'ports'],
  http: ['protocol', 'ports', 'core'],
  realtime: ['protocol', 'ports', 'core'],
  client: ['protocol'],
  'server-app': ['protocol', 'ports', 'core', 'sqlite', 'in-memory', 'platform-node', 'mcp', 'http', 'realtime'],
  cli: ['protocol', 'ports', 'core', 'sqlite', 'platform-node', 'server-app', 'client'],
}
