import * as v from 'valibot'
import { documented } from '../documented.ts'
import { record } from '../plain-object.ts'

export const Metadata = documented(
  v.pipe(
    record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), v.pipe(v.string(), v.maxLength(512))),
    v.maxEntries(16, 'must have at most 16 keys'),
  ),
  'Labels: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
  { ticket: '17' },
)

/** Metadata that the server keeps about a chat has keys with this prefix. */
export const RESERVED_METADATA = 'interop.'

/** Metadata in a request. */
export const SentMetadata = v.pipe(
  Metadata,
  v.check(
    (metadata) => Object.keys(metadata).every((key) => !key.startsWith(RESERVED_METADATA)),
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
