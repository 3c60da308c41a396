import { CALL_OPTIONS } from '../options.ts'
import { isObject, type Options } from '../sdk.ts'

/** @throws TypeError for an option that would be ignored */
export function refuseOptions(options: Options): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === false || value === 0) continue
    const row: readonly [string, string?] | undefined = Object.hasOwn(CALL_OPTIONS, name)
      ? CALL_OPTIONS[name as keyof typeof CALL_OPTIONS]
      : undefined
    if (row?.[0] === 'refused') refuse(name, row[1])
    if (name === 'include' && isObject(value) && value.rawChunks === true) {
      refuse('include.rawChunks', CALL_OPTIONS.includeRawChunks[1])
    }
  }
}

function refuse(name: string, alternative: string | undefined): never {
  throw new TypeError(`durable(): the option ${name} cannot be honoured: ${alternative}`)
}
