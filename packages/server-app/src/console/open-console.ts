import { consoleAssets } from '@perdure/console'
import type { Daemon } from '@perdure/core'
import type { ConsoleData } from '@perdure/http'
import { openVitals, type Vitals } from '@perdure/platform-node'
import type { MetricSeries } from '@perdure/ports'
import { createMetricHistory, type MetricHistoryDeps } from './metric-history.ts'
import { createReadSystem, type ReadSystemDeps } from './read-system.ts'

export interface ConsoleDeps extends ReadSystemDeps, Omit<MetricHistoryDeps, 'readSeries'> {
  readonly readSeries: (vitals: Vitals) => Promise<readonly MetricSeries[]>
}

export interface ConsoleParts extends ConsoleData {
  readonly daemon: Daemon
}

/** The parts of a server that exist only for its console. */
export function openConsole(deps: ConsoleDeps): ConsoleParts {
  // A reading of the delay of the event loop begins a new measurement, so the samples have measurements of their own.
  const vitals = openVitals()
  const history = createMetricHistory({ ...deps, readSeries: () => deps.readSeries(vitals) })
  return {
    assets: consoleAssets(),
    readSystem: createReadSystem(deps),
    readMetricHistory: history.read,
    daemon: {
      ...history.daemon,
      async stop() {
        await history.daemon.stop()
        vitals.close()
      },
    },
  }
}
