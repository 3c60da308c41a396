import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { Count } from './count.ts'

/** Shown to people and in `Content-Disposition`; never a path. */
export const FileName = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(255),
  v.regex(/^[^\p{Cc}\p{Cs}\p{Bidi_Control}/\\]+$/u, 'must not contain control characters or slashes'),
)

export const File = documented(
  v.object({
    id: member(v.string(), 'Id of the file, `file_…`.'),
    owner: member(v.string(), 'Subject of the token that stored the file, or owner of the run that did.'),
    name: member(v.optional(v.string()), 'Name to show to people. Absent when the file has none.'),
    mediaType: member(v.string(), 'Media type of the content.'),
    size: member(Count, 'Size of the content, in bytes.'),
    sha256: member(v.string(), 'SHA-256 of the content, in hexadecimal.'),
    createdAt: member(Timestamp, 'When the file was stored.'),
  }),
  'An attachment. It is deleted with the last session that holds it, or after 24 hours if no session does.',
  {
    id: 'file_01k5x3v8qk7m2n9b4c6d8f0g1h',
    owner: 'svc-web',
    name: 'parcel.jpg',
    mediaType: 'image/jpeg',
    size: 482_113,
    sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    createdAt: '2026-03-02T09:15:00.000Z',
  },
)
