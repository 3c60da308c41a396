import { perdureError } from '@perdure/ports'

export interface S3Options {
  readonly bucket: string
  /** Such as `https://s3.eu-central-1.amazonaws.com`. The bucket is the first part of the path. */
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface StoredObject {
  readonly key: string
  readonly size: number // bytes
}

export interface ObjectContent {
  readonly body: Blob
  readonly sha256: string // hexadecimal; the bucket refuses other bytes
}

/** Signs requests, and repeats those that the bucket could not answer for the moment. */
export interface SignedRequests {
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** The requests that a store of blobs makes. Keys have only characters that neither a URL nor XML escapes. */
export interface S3Bucket {
  put(key: string, content: ObjectContent): Promise<void>
  /** The bytes from `start` up to, but not including, `end`; `undefined` if there is no such object. */
  get(key: string, start: number, end: number): Promise<AsyncIterable<Uint8Array> | undefined>
  /** The objects whose keys begin with the prefix, sorted by key. */
  list(prefix: string): AsyncIterable<StoredObject>
  delete(key: string): Promise<void>
}

/** Limit for a request with a small answer. */
const REQUEST_MS = 30_000
/** Limit for a request that transfers a content. */
const CONTENT_MS = 600_000

export function createS3Bucket(signed: SignedRequests, { endpoint, bucket }: S3Options): S3Bucket {
  const base = `${endpoint.endsWith('/') ? endpoint.slice(0, -1) : endpoint}/${bucket}`

  const send = async (path: string, timeoutMs: number, init: RequestInit = {}): Promise<Response> => {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await signed.fetch(`${base}${path}`, { ...init, signal, redirect: 'manual' }).catch(unreachable)
    if (response.ok || response.status === 404) return response
    throw unavailable(`${response.status} ${codeOf(await response.text())}`)
  }
  const found = async (response: Response): Promise<string> => {
    const text = await response.text()
    if (response.ok) return text
    throw unavailable(`${response.status} ${codeOf(text)}`)
  }

  return {
    async put(key, { body, sha256 }) {
      const headers = { 'x-amz-content-sha256': sha256, 'content-type': 'application/octet-stream' }
      await found(await send(`/${key}`, CONTENT_MS, { method: 'PUT', headers, body }))
    },
    async get(key, start, end) {
      const response = await send(`/${key}`, CONTENT_MS, { headers: { range: `bytes=${start}-${end - 1}` } })
      if (response.status === 206 && response.body !== null) return bytesOf(response.body)
      const text = await response.text()
      if (response.status === 404 && codeOf(text) === 'NoSuchKey') return undefined
      throw unavailable(`${response.status} ${codeOf(text)}, to a request for a part of an object`)
    },
    async *list(prefix) {
      for (let token: string | undefined; ; ) {
        const query = new URLSearchParams({ 'list-type': '2', prefix })
        if (token !== undefined) query.set('continuation-token', token)
        const page = await found(await send(`?${query}`, REQUEST_MS))
        for (const text of page.split('<Contents>').slice(1)) {
          yield { key: elementIn(text, 'Key') ?? '', size: Number(elementIn(text, 'Size')) }
        }
        token = elementIn(page, 'NextContinuationToken')
        if (token === undefined) return
      }
    },
    async delete(key) {
      await (await send(`/${key}`, REQUEST_MS, { method: 'DELETE' })).body?.cancel()
    },
  }
}

async function* bytesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* body
  } catch (error) {
    throw unavailable('the connection was lost', error)
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element of this name, which has no children; `undefined` if it is missing or empty. */
function elementIn(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`) + name.length + 2
  const end = xml.indexOf(`</${name}>`, start)
  if (start < name.length + 2 || end <= start) return undefined
  return xml.slice(start, end).replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity] ?? '')
}

const codeOf = (xml: string): string => elementIn(xml, 'Code')?.slice(0, 100) ?? ''

const unreachable = (cause: unknown): never => {
  throw unavailable('no answer', cause)
}

const unavailable = (what: string, cause?: unknown) =>
  perdureError('storage-unavailable', {
    message: `The bucket of the files answered with ${what.trim()}.`,
    hint: 'check storage.files.s3 and what its key may do: PutObject, GetObject, DeleteObject and ListBucket',
    cause,
  })
