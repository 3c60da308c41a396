import type { ConsoleData, DocsPage } from './console-data.ts'

/** A console without files. */
export const TEST_CONSOLE: ConsoleData = {
  assets: new Map(),
  readSystem: async () => ({
    ...{ version: '0.1.0', startedAt: '2026-03-02T09:00:00.000Z', nodes: [] },
    storage: { kind: 'sqlite', writable: true, dbBytes: 1, walBytes: 0 },
    configuration: [{ path: 'server.port', value: 8080, origin: 'default' }],
  }),
  readMetricHistory: () => ({ intervalMs: 15_000, times: [], series: [] }),
}

/** A page without style and script. */
export const TEST_DOCS_PAGE: DocsPage = {
  html: '<html><noscript>%LIST%</noscript></html>',
  styleSource: "'sha256-style'",
  scriptSource: "'sha256-script'",
}
