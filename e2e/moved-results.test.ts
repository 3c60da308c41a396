import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startBucket } from '../packages/platform-node/src/blobs/bucket-server.fixture.ts'
import { findTool } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { startPostgres, type TestPostgres } from '../tooling/postgres-server.ts'
import { createCall, ledgerOf } from './durable-server.ts'
import {
  bearer,
  createSandbox,
  createToken,
  perdure,
  removeFolder,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

const CONFIG = ['--config', join(import.meta.dirname, 'fixtures/kept-result.config.mjs')]
const SCHEMA = 'moved_results'

let database: TestPostgres | undefined
beforeAll(async () => {
  if (findTool('postgres') !== undefined) database = await startPostgres()
})
afterAll(() => database?.remove())

/** A server on the file of the sandbox, whose files are in a bucket, and the same server on PostgreSQL. */
async function createPlaces() {
  const bucket = await startBucket()
  const { endpoint, bucket: name, region, accessKeyId, secretAccessKey } = bucket.options
  const file = createSandbox({
    PERDURE_STORAGE_FILES_S3_ENDPOINT: endpoint,
    PERDURE_STORAGE_FILES_S3_BUCKET: name,
    PERDURE_STORAGE_FILES_S3_REGION: region,
    PERDURE_STORAGE_FILES_S3_ACCESS_KEY_ID: accessKeyId,
    PERDURE_STORAGE_FILES_S3_SECRET_ACCESS_KEY_REF: 'env:E2E_BUCKET_SECRET',
    ...{ E2E_BUCKET_SECRET: secretAccessKey, E2E_MOVE_URL: database?.url },
  })
  onTestFinished(() => removeFolder(file.dir))
  const { PERDURE_STORAGE_PATH: _, ...env } = file.env
  const schema: Sandbox = {
    dir: file.dir,
    env: {
      ...env,
      ...{
        PERDURE_STORAGE_KIND: 'postgres',
        PERDURE_STORAGE_URL_REF: 'env:E2E_MOVE_URL',
        PERDURE_STORAGE_SCHEMA: SCHEMA,
      },
    },
  }
  return { file, schema, bucket }
}

async function start(sandbox: Sandbox, token: string) {
  const server = await startServer(sandbox, ['server', ...CONFIG])
  onTestFinished(() => void server.process.kill('SIGKILL'))
  const call = createCall(() => server.url, token)
  const download = async (id: string) => {
    const response = await fetch(`${server.url}/files/${id}`, { headers: bearer(token) })
    expect(response.status).toBe(200)
    return Buffer.from(await response.arrayBuffer())
  }
  return { server, call, download }
}

interface ExportedLine {
  readonly type: string
  readonly record: {
    readonly type?: string
    readonly payload?: { readonly result?: { readonly file?: { readonly id: string; readonly bytes: number } } }
  }
}

const linesOf = (text: string): readonly ExportedLine[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const fileIn = (lines: readonly ExportedLine[]) =>
  lines.find(({ record }) => record?.type === 'tool.execute.end')?.record.payload?.result?.file

const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex')

needsTool('postgres').describe('a result in a file of a bucket', () => {
  it('is exported as a reference, and read again by a run that continues on PostgreSQL', async () => {
    const { file, schema, bucket } = await createPlaces()
    const token = await createToken(file)
    const onFile = await start(file, token)
    const { id: sessionId } = (await onFile.call('POST', '/sessions', { body: {} })).body
    const { runId } = (await onFile.call('POST', '/agents/keeper/stream', { body: { input: {}, sessionId } })).body
    const statusOn = ({ call }: typeof onFile) =>
      expect.poll(async () => (await call('GET', `/runs/${runId}`)).body.status)
    await statusOn(onFile).toBe('suspended')

    const exported = await fetch(`${onFile.server.url}/sessions/${sessionId}/export`, {
      method: 'POST',
      headers: bearer(token),
    })
    const found = fileIn(linesOf(await exported.text()))
    const content = await onFile.download(found?.id ?? '')
    expect(content.length).toBe(found?.bytes)
    expect(bucket.objects.size).toBe(1)
    expect(readdirSync(join(file.dir, 'files/parts'))).toEqual([])
    await onFile.server.kill('SIGTERM')

    const moved = await perdure(file, [
      ...['migrate', 'sqlite-to-postgres', '--from', 'data.db', '--to-url-ref', 'env:E2E_MOVE_URL'],
      ...['--schema', SCHEMA, '--json', ...CONFIG],
    ])
    expect(moved.code, moved.stderr).toBe(0)
    const onSchema = await start(schema, token)
    expect(await onSchema.download(found?.id ?? '')).toEqual(content)
    await onSchema.call('POST', '/events/continue', { body: { payload: {} } })
    await statusOn(onSchema).toBe('completed')

    const { result } = (await onSchema.call('GET', `/runs/${runId}`)).body
    expect(result).toEqual({ hash: hashOf(content), length: 300_000 })
    expect(ledgerOf(file)).toEqual(['fetched'])
  })
})
