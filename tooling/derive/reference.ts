import { configJsonSchema } from '@perdure/cli'
import { authoringPage } from './pages/authoring.ts'
import { cliPage } from './pages/cli.ts'
import { configPage } from './pages/config.ts'
import { errorsPage } from './pages/errors.ts'
import { eventsPage } from './pages/events.ts'
import { metricsPage } from './pages/metrics.ts'
import { operationsPage } from './pages/operations.ts'
import { realtimePage } from './pages/realtime.ts'
import { scopesPage } from './pages/scopes.ts'
import { stabilityPage } from './pages/stability.ts'
import { tracesPage } from './pages/traces.ts'

/** The files of docs/reference, by name. */
export const deriveReference = (): Readonly<Record<string, string>> => ({
  'authoring.md': authoringPage(),
  'cli.md': cliPage(),
  'config.md': configPage(),
  'config.schema.json': `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`,
  'errors.md': errorsPage(),
  'events.md': eventsPage(),
  'metrics.md': metricsPage(),
  'operations.md': operationsPage(),
  'realtime.md': realtimePage(),
  'scopes.md': scopesPage(),
  'stability.md': stabilityPage(),
  'traces.md': tracesPage(),
})
