import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sign } from 'aws4'
import { onTestFinished } from 'vitest'
import type { S3Options } from './s3-bucket.ts'

export interface BucketServer {
  readonly options: S3Options
  readonly objects: Map<string, Buffer>
  /** `METHOD path` of every request that was signed correctly. */
  readonly requests: string[]
  /** Answers instead of the server if it returns a status, with the code of an error. */
  fault: (request: IncomingMessage) => readonly [status: number, code: string] | undefined
}

const PAGE = 2
const KEY = { accessKeyId: 'id', secretAccessKey: 'a secret/+' }
const REGION = 'eu-test-1'

/** A bucket on loopback, which checks each signature with another implementation. Its lists have two objects a page. */
export async function startBucket(): Promise<BucketServer> {
  const objects = new Map<string, Buffer>()
  const requests: string[] = []
  const bucket: Pick<BucketServer, 'fault'> = { fault: () => undefined }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const problem = bucket.fault(request) ?? problemOf(request, body)
    if (problem !== undefined) refuse(response, ...problem)
    else {
      requests.push(`${request.method} ${request.url}`)
      answer(objects, { request, body, response })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(bucket, { options: { ...KEY, endpoint, bucket: 'files', region: REGION }, objects, requests })
}

function problemOf({ headers, method, url }: IncomingMessage, body: Buffer): readonly [number, string] | undefined {
  const signedHeaders = Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'host' || name.startsWith('x-amz-')),
  ) as Record<string, string>
  const given = { host: headers.host, path: url, method, headers: signedHeaders, service: 's3', region: REGION }
  const expected = sign({ ...given, body: '' } as Parameters<typeof sign>[0], KEY).headers?.Authorization
  if (headers.authorization !== expected) return [403, 'SignatureDoesNotMatch']
  const hash = headers['x-amz-content-sha256']
  const isOther = hash !== 'UNSIGNED-PAYLOAD' && hash !== createHash('sha256').update(body).digest('hex')
  return isOther ? [400, 'XAmzContentSHA256Mismatch'] : undefined
}

interface Exchange {
  readonly request: IncomingMessage
  readonly body: Buffer
  readonly response: ServerResponse
}

function answer(objects: Map<string, Buffer>, { request, body, response }: Exchange): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket')
  const key = decodeURIComponent(pathname.slice('/files/'.length))
  if (!/^\/files(\/|$)/.test(pathname)) {
    refuse(response, 404, 'NoSuchBucket')
  } else if (request.method === 'PUT') {
    objects.set(key, body)
    response.end()
  } else if (request.method === 'DELETE') {
    objects.delete(key)
    response.writeHead(204).end()
  } else if (searchParams.has('list-type')) {
    response.end(listOf(objects, searchParams))
  } else {
    const object = objects.get(key)
    const [, start, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    if (object === undefined) refuse(response, 404, 'NoSuchKey')
    else response.writeHead(206).end(object.subarray(Number(start), Number(last) + 1))
  }
}

/** The token has characters that XML and URLs escape. */
function listOf(objects: Map<string, Buffer>, query: URLSearchParams): string {
  const after = query.get('continuation-token')?.slice('a+&<'.length) ?? ''
  const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort()
  const page = keys.slice(0, PAGE)
  const rows = page.map((key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length}</Size></Contents>`)
  const next = keys.length > PAGE ? `<NextContinuationToken>a+&amp;&lt;${page.at(-1)}</NextContinuationToken>` : ''
  return `<?xml version="1.0"?><ListBucketResult>${rows.join('\n')}${next}</ListBucketResult>`
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)
}
