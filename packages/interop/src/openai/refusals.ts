import { AppError } from '@perdure/ports'

/** @param param the member of the body, as `tools.0.type` */
export const unsupported = (param: string, message: string): AppError =>
  new AppError('unsupported-parameter', { message: `body.${param}: ${message}` })

export const invalid = (param: string, message: string): AppError =>
  new AppError('validation-failed', { message: `body.${param}: ${message}` })

export const noSuchResponse = (): AppError =>
  new AppError('run-not-found', { message: 'no such response, or the caller may not see it' })
