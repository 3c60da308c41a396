import { perdureError } from '@perdure/ports'

interface Signature {
  readonly mediaType: string
  readonly bytes: string
  readonly offset?: number
  /** More bytes, after `bytes`. */
  readonly also?: { readonly bytes: string; readonly offset: number }
}

/** Formats that their first bytes identify. */
const SIGNATURES: readonly Signature[] = [
  { mediaType: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { mediaType: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { mediaType: 'image/gif', bytes: 'GIF87a' },
  { mediaType: 'image/gif', bytes: 'GIF89a' },
  { mediaType: 'image/webp', bytes: 'RIFF', also: { bytes: 'WEBP', offset: 8 } },
  { mediaType: 'image/avif', bytes: 'ftypavif', offset: 4 },
  { mediaType: 'image/heic', bytes: 'ftypheic', offset: 4 },
  { mediaType: 'application/pdf', bytes: '%PDF-' },
  { mediaType: 'audio/wav', bytes: 'RIFF', also: { bytes: 'WAVE', offset: 8 } },
  { mediaType: 'audio/mpeg', bytes: 'ID3' },
  { mediaType: 'audio/ogg', bytes: 'OggS' },
  { mediaType: 'video/webm', bytes: '\x1a\x45\xdf\xa3' },
  { mediaType: 'video/mp4', bytes: 'ftyp', offset: 4 },
]

/** Names that clients use for a format besides its own. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
}

/** Formats that have a signature, and files of which may lack it, such as an MP3 file without tags. */
const OFTEN_UNSIGNED: ReadonlySet<string> = new Set(['audio/mpeg', 'video/mp4', 'video/webm', 'audio/ogg'])

const SIGNED: ReadonlySet<string> = new Set(SIGNATURES.map(({ mediaType }) => mediaType))
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/
const ANY_BYTES = 'application/octet-stream'

/**
 * The media type of a file: the declared one, if the first bytes agree with it, otherwise the one that they show.
 *
 * @param declared a media type, which may have parameters; `undefined` if the client named none
 * @throws PerdureError `validation-failed` for a text that is not a media type; `unsupported-media-type` if the content is
 *   of another type
 */
export function mediaTypeOf(declared: string | undefined, start: Uint8Array): string {
  const named = declaredType(declared)
  const shown = SIGNATURES.find((signature) => hasSignature(start, signature))?.mediaType
  if (named === ANY_BYTES) return shown ?? named
  const isOther = shown !== undefined && SIGNED.has(named) && !areRelated(named, shown)
  const isHidden = shown !== undefined && (named.startsWith('text/') || named.endsWith('json'))
  const isMissing = shown === undefined && SIGNED.has(named) && !OFTEN_UNSIGNED.has(named)
  if (!isOther && !isHidden && !isMissing) return named
  throw perdureError('unsupported-media-type', {
    message: `the content is ${shown === undefined ? `not ${named}` : `${shown}, not ${named}`}`,
    hint: `send Content-Type: ${shown ?? ANY_BYTES}`,
  })
}

/** The media type that the first bytes show, otherwise the declared one, if it is a media type. */
export function correctedTypeOf(declared: string | undefined, start: Uint8Array): string {
  const shown = SIGNATURES.find((signature) => hasSignature(start, signature))?.mediaType
  const named = declared?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return shown ?? (MEDIA_TYPE.test(named) ? (ALIASES[named] ?? named) : ANY_BYTES)
}

function declaredType(declared: string | undefined): string {
  const text = declared?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (text === '') return ANY_BYTES
  if (!MEDIA_TYPE.test(text)) {
    throw perdureError('validation-failed', {
      message: `${text.slice(0, 100)} is not a media type`,
      hint: 'send a media type such as image/png',
    })
  }
  return ALIASES[text] ?? text
}

/** Containers of the same family share a signature: `audio/mp4` and `image/heif` are forms of `ftyp`. */
const areRelated = (named: string, shown: string): boolean =>
  named === shown || (isContainer(named) && isContainer(shown))

const isContainer = (mediaType: string): boolean => ['video/mp4', 'image/avif', 'image/heic'].includes(mediaType)

const hasSignature = (start: Uint8Array, { bytes, offset = 0, also }: Signature): boolean =>
  startsWith(start, bytes, offset) && (also === undefined || startsWith(start, also.bytes, also.offset))

function startsWith(start: Uint8Array, bytes: string, offset: number): boolean {
  for (let index = 0; index < bytes.length; index++) {
    if (start[offset + index] !== bytes.charCodeAt(index)) return false
  }
  return true
}
