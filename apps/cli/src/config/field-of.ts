import type { StartError } from '@perdure/ports'
import { configFields, type StartErrorKind } from '@perdure/protocol'

const FIELD_OF_KIND: Partial<Readonly<Record<StartErrorKind, string>>> = {
  'pepper-missing': 'auth.pepperRef',
  'address-in-use': 'server.port',
  'storage-locked': 'storage.path',
  'storage-corrupt': 'storage.path',
  'storage-newer-schema': 'storage.path',
  'storage-replaced': 'storage.path',
  'storage-moved': 'storage.path',
  'clock-skew': 'storage.cluster',
  'storage-incomplete': 'storage.schema',
  'storage-shared': 'storage.path',
}

/** The configuration field that a start error is about, taken from the beginning of its message or from its kind. */
export function fieldOf({ kind, message }: Pick<StartError, 'kind' | 'message'>): string | undefined {
  const named = configFields
    .map(({ path }) => path)
    .filter((path) => message.startsWith(path) && !/^[\w]/.test(message.slice(path.length)))
    .toSorted((a, b) => b.length - a.length)[0]
  return named ?? FIELD_OF_KIND[kind]
}
