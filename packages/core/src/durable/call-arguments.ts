import { type EpochMs, perdureError } from '@perdure/ports'
import { DURATION_FORMS, toMilliseconds } from '@perdure/protocol'

const MAX_NAME_LENGTH = 256
const LAST_INSTANT = 8_640_000_000_000_000

/** @throws PerdureError `validation-failed` unless it is a valid name of a durable call */
export function checkName(name: unknown): void {
  const isName = typeof name === 'string' && name.length > 0 && name.length <= MAX_NAME_LENGTH && name.isWellFormed()
  if (isName) return
  throw perdureError('validation-failed', {
    message:
      typeof name === 'string'
        ? `the name of a durable call must have 1 to ${MAX_NAME_LENGTH} characters`
        : `the first argument of a durable call must be its name, not a value of type ${typeof name}`,
    hint: "pass a short, constant string, as in ctx.sleep('wait a second', '1s')",
  })
}

/** The instant a duration after `now`. @throws PerdureError `validation-failed` unless it is a duration */
export function instantAfter(now: EpochMs, duration: unknown): EpochMs {
  const delayMs = toMilliseconds(duration)
  if (delayMs !== undefined && now + delayMs <= LAST_INSTANT) return Math.ceil(now + delayMs) as EpochMs
  throw perdureError('validation-failed', { message: `a duration must be ${DURATION_FORMS}` })
}

/** The instant at which a sleep ends. @throws PerdureError `validation-failed` */
export function instantOf(now: EpochMs, until: unknown): EpochMs {
  if (until === undefined) {
    throw perdureError('validation-failed', {
      message: 'ctx.sleep needs a duration or a Date after its name',
      hint: "write it like ctx.sleep('wait a second', '1s')",
    })
  }
  if (!(until instanceof Date)) return instantAfter(now, typeof until === 'number' && until < 0 ? 0 : until)
  const at = until.getTime()
  if (Number.isFinite(at)) return at as EpochMs
  throw perdureError('validation-failed', { message: 'ctx.sleep needs a duration or a valid Date' })
}
