import { perdureError } from '@perdure/ports'
import { problemsTextWithoutValues } from './schema-problems.ts'
import type { StandardSchemaV1 } from './standard-schema.ts'

/**
 * Returns the result of a run as the output schema parsed it.
 *
 * @throws PerdureError `invalid-output` with the path of each issue, without the rejected value
 */
export async function checkOutput(schema: StandardSchemaV1, result: unknown): Promise<unknown> {
  const checked = await schema['~standard'].validate(result)
  if (checked.issues === undefined) return checked.value
  throw perdureError('invalid-output', {
    message: problemsTextWithoutValues('output', checked.issues, result),
    hint: 'return a result that matches the output schema of the registration, or change the schema',
  })
}
