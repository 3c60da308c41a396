import { perdureError } from '@perdure/ports'
import { repeatedHeader } from '../request/http-env.ts'
import type { CreateStage } from './stage.ts'

/** Rejects a request with a duplicate header that a proxy could interpret differently. */
export const createRepeatedHeader: CreateStage =
  () =>
  ({ env }) => {
    const repeated = repeatedHeader(env)
    if (repeated === undefined) return undefined
    throw perdureError('validation-failed', { message: `header ${repeated}: sent more than once` })
  }
