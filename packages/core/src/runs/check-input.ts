import { AppError } from '@berth/ports'
import type { RunTarget } from './run-target.ts'

/** The input as the target's schema makes it; as it is without a schema. @throws AppError `invalid-input` with the paths */
export async function checkInput({ input: schema }: Pick<RunTarget, 'input'>, input: unknown): Promise<unknown> {
  if (schema === undefined) return input ?? null
  const checked = await schema['~standard'].validate(input)
  if (checked.issues === undefined) return checked.value
  throw new AppError('invalid-input', {
    message: checked.issues.map(({ message, path }) => `input${pathText(path)}: ${message}`).join('; '),
    hint: 'see the schema it was registered with',
  })
}

type Path = ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>

const pathText = (path: Path = []) =>
  path.map((part) => `.${String(typeof part === 'object' ? part.key : part)}`).join('')
