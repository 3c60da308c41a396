import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How this process is doing. */
export interface Vitals {
  /** By how much timers were late, 99th percentile since the last call. */
  eventLoopDelaySeconds(): number
  residentMemoryBytes(): number
  close(): void
}

const RESOLUTION_MS = 10

/** Starts to watch this process. It keeps no process alive. */
export function openVitals(): Vitals {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()

  return {
    eventLoopDelaySeconds() {
      // What Node measures includes the interval itself.
      const lateMs = delays.percentile(99) / 1_000_000 - RESOLUTION_MS
      delays.reset()
      return Math.max(0, lateMs / 1_000)
    },
    residentMemoryBytes: () => process.memoryUsage.rss(),
    close: () => void delays.disable(),
  }
}
