import { AppError, type Logger, type Timers } from '@berth/ports'

export interface PersistentlyDeps {
  readonly timers: Timers
  readonly logger: Logger
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

/** Tries again, with growing pauses, while the storage says that nothing was written and that it may work later. */
export async function persistently<T>({ timers, logger }: PersistentlyDeps, attempt: () => Promise<T>): Promise<T> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof AppError) || !TRANSIENT.has(error.id)) throw error
      logger.warn('storage refuses a write, trying again', { error: error.id, delayMs })
      await new Promise<void>((resolve) => timers.after(delayMs, resolve))
    }
  }
}

const TRANSIENT: ReadonlySet<string> = new Set(['SQLITE_BUSY', 'storage-full'])
