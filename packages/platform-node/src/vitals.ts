import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Measurements of this process. */
export interface Vitals {
  /** Timer lateness: the 99th percentile since the last call. */
  eventLoopDelaySeconds(): number
  residentMemoryBytes(): number
  close(): void
}

const RESOLUTION_MS = 10

/** Starts measuring this process. Does not keep the process alive. */
export function openVitals(): Vitals {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()

  return {
    eventLoopDelaySeconds() {
      // The delay that Node.js measures includes the sampling interval.
      const lateMs = delays.percentile(99) / 1_000_000 - RESOLUTION_MS
      delays.reset()
      return Math.max(0, lateMs / 1_000)
    },
    residentMemoryBytes: () => process.memoryUsage.rss(),
    close: () => void delays.disable(),
  }
}
