import type { RunContext } from '@perdure/core'
import * as sdk from 'ai'
import { createDurable } from './create-durable.ts'
import type { Durable } from './durable-types.ts'

const create = createDurable(sdk)

/**
 * The AI SDK for the code of a run: each answer of a model is paid for once, and each tool runs once, across waits, crashes
 * and restarts. Without the run context, each call finds the run that it belongs to, so that agents can be made at module
 * level.
 */
export function durable(ctx?: RunContext): Durable {
  return create(ctx)
}
