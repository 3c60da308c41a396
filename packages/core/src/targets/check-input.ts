import { perdureError } from '@perdure/ports'
import type { RunTarget } from './run-target.ts'
import { problemsText } from './schema-problems.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

/**
 * Returns the input parsed by the target's schema, or unchanged without a schema. Returns a promise only if the schema
 * is asynchronous.
 *
 * @throws PerdureError `invalid-input` with the path of each issue
 */
export function checkInput({ input: schema }: Pick<RunTarget, 'input'>, input: unknown): unknown {
  if (schema === undefined) return input ?? null
  const checked = schema['~standard'].validate(input)
  return checked instanceof Promise ? checked.then(outputOf) : outputOf(checked)
}

function outputOf(checked: StandardSchemaV1.Result<unknown>): unknown {
  if (checked.issues === undefined) return checked.value
  throw perdureError('invalid-input', {
    message: problemsText('input', checked.issues),
    hint: 'send an input that matches the schema of the agent or workflow',
  })
}
