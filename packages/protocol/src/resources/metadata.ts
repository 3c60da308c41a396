import * as v from 'valibot'
import { documented } from '../documented.ts'
import { record } from '../plain-object.ts'

const Labels = record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), v.pipe(v.string(), v.maxLength(512)))
const MAX_KEYS = 16

export const Metadata = documented(
  v.pipe(Labels, v.maxEntries(MAX_KEYS, `must have at most ${MAX_KEYS} keys`)),
  'Labels: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
  { ticket: '17' },
)

/** Metadata that the server keeps about a chat has keys with this prefix. */
export const RESERVED_METADATA = 'interop.'

export const isReservedKey = (key: string): boolean => key.startsWith(RESERVED_METADATA)

/** Metadata of a run or a session as the server shows it, also where a request may send it back. */
export const ShownMetadata = documented(
  v.pipe(
    Labels,
    v.check(
      (metadata) => Object.keys(metadata).filter((key) => !isReservedKey(key)).length <= MAX_KEYS,
      `must have at most ${MAX_KEYS} keys`,
    ),
  ),
  'Labels: at most 16 keys of up to 128 characters, with values of up to 512 characters. Keys that start with `interop.` are of the server and do not count.',
  { ticket: '17' },
)

/** Metadata in a request. */
export const SentMetadata = v.pipe(
  Metadata,
  v.check(
    (metadata) => !Object.keys(metadata).some(isReservedKey),
    `must have no key that starts with ${RESERVED_METADATA}: the server keeps its own values there`,
  ),
)

/** A value to filter by. */
export const FilterValue = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

/** Metadata that the listed items must have. In a query, each is a member `metadata.<key>`. */
export const MetadataFilter = v.pipe(
  record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), v.pipe(v.string(), v.maxLength(512))),
  v.maxEntries(3, 'must have at most 3 keys'),
)
