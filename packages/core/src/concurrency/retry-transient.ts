import { AppError, type Logger, type Timers } from '@perdure/ports'

export interface PersistentlyDeps {
  readonly timers: Timers
  readonly logger: Logger
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000

/** Which refusals to outlast, and when not to any more. */
export interface Patience {
  readonly errors?: ReadonlySet<string>
  /** Ends a pause. */
  readonly enough?: Promise<void>
  /** Once it is so, a refusal is thrown. */
  readonly isEnough?: () => boolean
}

/** Tries again, with growing pauses, while the storage says that nothing was written and that it may work later. */
export async function persistently<T>(
  { timers, logger }: PersistentlyDeps,
  attempt: () => Promise<T>,
  { errors = TRANSIENT, enough, isEnough = () => false }: Patience = {},
): Promise<T> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof AppError) || !errors.has(error.id) || isEnough()) throw error
      logger.warn('storage refuses a call, trying again', { error: error.id, delayMs })
      const pause = new Promise<void>((resolve) => timers.after(delayMs, resolve))
      await (enough === undefined ? pause : Promise.race([pause, enough]))
      if (isEnough()) throw error
    }
  }
}

const TRANSIENT: ReadonlySet<string> = new Set(['SQLITE_BUSY', 'storage-full'])

/** Whether a refusal means that nothing was written and that it may work later. */
export const isTransient = ({ id }: AppError): boolean => TRANSIENT.has(id)
