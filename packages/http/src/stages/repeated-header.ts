import { AppError } from '@perdure/ports'
import { repeatedHeader } from '../http-env.ts'
import type { CreateStage } from './stage.ts'

/** Refuses a header that is sent twice and would be read in two ways. */
export const createRepeatedHeader: CreateStage =
  () =>
  ({ env }) => {
    const repeated = repeatedHeader(env)
    if (repeated === undefined) return undefined
    throw new AppError('validation-failed', { message: `header ${repeated}: sent more than once` })
  }
