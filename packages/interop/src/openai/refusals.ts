import { perdureError, type Refusal } from '@perdure/ports'

/** @param param the member of the body, as `tools.0.type` */
export const unsupported = (param: string, message: string): Refusal =>
  perdureError('unsupported-parameter', { message: `body.${param}: ${message}` })

export const invalid = (param: string, message: string): Refusal =>
  perdureError('validation-failed', { message: `body.${param}: ${message}` })

export const noSuchResponse = (): Refusal =>
  perdureError('run-not-found', { message: 'no such response, or the caller may not see it' })
