import { AppError, type EpochMs } from '@perdure/ports'

const MAX_NAME_LENGTH = 256
const LAST_INSTANT = 8_640_000_000_000_000

/** @throws AppError `validation-failed` unless it is a valid name of a durable call */
export function checkName(name: unknown): void {
  const isName = typeof name === 'string' && name.length > 0 && name.length <= MAX_NAME_LENGTH && name.isWellFormed()
  if (isName) return
  throw new AppError('validation-failed', {
    message:
      typeof name === 'string'
        ? `the name of a durable call must have 1 to ${MAX_NAME_LENGTH} characters`
        : `the first argument of a durable call must be its name, not a value of type ${typeof name}`,
    hint: "pass a short, constant string, as in ctx.sleep('wait a second', 1000)",
  })
}

/** The instant `delayMs` after `now`. @throws AppError `validation-failed` unless `delayMs` is a non-negative number */
export function instantAfter(now: EpochMs, delayMs: unknown): EpochMs {
  const isDelay = typeof delayMs === 'number' && delayMs >= 0 && now + delayMs <= LAST_INSTANT
  if (isDelay) return Math.ceil(now + delayMs) as EpochMs
  throw new AppError('validation-failed', { message: 'a duration must be a non-negative number of milliseconds' })
}

/** The instant at which a sleep ends. @throws AppError `validation-failed` */
export function instantOf(now: EpochMs, until: unknown): EpochMs {
  if (until === undefined) {
    throw new AppError('validation-failed', {
      message: 'ctx.sleep needs a number of milliseconds or a Date after its name',
      hint: "write it like ctx.sleep('wait a second', 1000)",
    })
  }
  if (!(until instanceof Date)) return instantAfter(now, typeof until === 'number' && until < 0 ? 0 : until)
  const at = until.getTime()
  if (Number.isFinite(at)) return at as EpochMs
  throw new AppError('validation-failed', { message: 'ctx.sleep needs milliseconds or a valid Date' })
}
