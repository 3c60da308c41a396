// The only place that says which imports are allowed. The dependency rules and the table in ARCHITECTURE.md both read it.
module.exports = {
  // The packages that each package may import.
  packages: {
    protocol: [],
    ports: ['protocol'],
    core: ['protocol', 'ports'],
    'in-memory': ['protocol', 'ports'],
    testkit: ['protocol', 'ports'],
    sqlite: ['protocol', 'ports'],
    postgres: ['protocol', 'ports'],
    'platform-node': ['protocol', 'ports'],
    mcp: ['protocol', 'ports'],
    http: ['protocol', 'ports', 'core'],
    realtime: ['protocol', 'ports', 'core'],
    client: ['protocol'],
    'server-app': [
      'protocol',
      'ports',
      'core',
      'sqlite',
      'postgres',
      'in-memory',
      'platform-node',
      'mcp',
      'http',
      'realtime',
      'client',
    ],
    cli: ['protocol', 'ports', 'core', 'sqlite', 'platform-node', 'server-app', 'client'],
  },

  // The folders of packages/core/src, from top to bottom. A folder may import only folders of the tiers below its own.
  coreTiers: [
    ['health', 'workflows'],
    ['triggers'],
    ['engine'],
    ['retention', 'targets'],
    ['consolidator', 'sessions'],
    ['approvals', 'mcp', 'memory', 'skills'],
    ['durable'],
    ['providers', 'replay', 'tracing'],
    ['runs'],
    ['realtime'],
    ['auth'],
    ['audit', 'idempotency', 'rate-limit'],
    ['collections', 'concurrency', 'json', 'lifecycle'],
  ],
}
