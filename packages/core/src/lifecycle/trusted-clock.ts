import { type Clock, type EpochMs, type Logger, MAX_CLOCK_SKEW_MS } from '@perdure/ports'

export interface TrustedClockDeps {
  /** The clock of the machine. */
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
  /** Whether the clock of the machine agrees with that of the storage. By default, nothing is known against it. */
  readonly isRight?: (() => boolean) | undefined
}

export interface TrustedClock extends Clock {
  /** By how many milliseconds the clock of the machine is ahead of this one; 0 while it is trusted. */
  distrustedMs(): number
}

/** A step of the wall clock is trusted after it has lasted for this time on the monotonic clock. */
export const CONFIRM_STEP_MS = 60_000

interface Step {
  readonly offset: number
  readonly sinceMs: number
}

/**
 * The wall clock as far as it can be trusted. What expires, starts or is deleted by a wrong clock cannot be restored, so a
 * step of the wall clock is not followed at once: until it has lasted for a minute, the time follows the monotonic
 * clock. A step away from the clock of the storage is never followed. Drifts and small steps are followed at once.
 */
export function createTrustedClock({ clock, logger, isRight = () => true }: TrustedClockDeps): TrustedClock {
  let trusted = clock.now() - clock.monotonicMs()
  let step: Step | undefined

  const secondsOf = (ms: number) => Math.round(ms / 1_000)

  const follow = (offset: number) => {
    trusted = offset
    step = undefined
  }

  const distrust = (offset: number, monotonicMs: number) => {
    if (step === undefined || Math.abs(offset - step.offset) > MAX_CLOCK_SKEW_MS) {
      step = { offset, sinceMs: monotonicMs }
      logger.warn('the clock of this machine was changed; the change is ignored until it has lasted for a minute', {
        seconds: secondsOf(offset - trusted),
      })
    }
    if (monotonicMs - step.sinceMs < CONFIRM_STEP_MS || !isRight()) return
    logger.warn('the changed clock of this machine is used from now on', { seconds: secondsOf(offset - trusted) })
    follow(offset)
  }

  const now = (): EpochMs => {
    const monotonicMs = clock.monotonicMs()
    const wallMs = clock.now()
    const offset = wallMs - monotonicMs
    if (Math.abs(offset - trusted) <= MAX_CLOCK_SKEW_MS) follow(offset)
    else distrust(offset, monotonicMs)
    return step === undefined ? wallMs : (Math.floor(monotonicMs + trusted) as EpochMs)
  }

  return {
    now,
    monotonicMs: () => clock.monotonicMs(),
    distrustedMs() {
      now()
      return step === undefined ? 0 : step.offset - trusted
    },
  }
}
