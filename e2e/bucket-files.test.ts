import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startBucket } from '../packages/platform-node/src/blobs/bucket-server.fixture.ts'
import { bearer, createSandbox, createToken, LEDGER_CONFIG, perdure, startServer } from './perdure-process.ts'

const CONTENT = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251)
const CONFIG = ['--config', LEDGER_CONFIG]

const bucketEnv = ({ endpoint, bucket, region, accessKeyId }: Awaited<ReturnType<typeof startBucket>>['options']) => ({
  PERDURE_STORAGE_FILES_S3_ENDPOINT: endpoint,
  PERDURE_STORAGE_FILES_S3_BUCKET: bucket,
  PERDURE_STORAGE_FILES_S3_REGION: region,
  PERDURE_STORAGE_FILES_S3_PREFIX: 'perdure/',
  PERDURE_STORAGE_FILES_S3_ACCESS_KEY_ID: accessKeyId,
  PERDURE_STORAGE_FILES_S3_SECRET_ACCESS_KEY_REF: 'env:E2E_BUCKET_SECRET',
})

describe('a server that keeps files in a bucket', () => {
  it('has each acknowledged file after a kill, serves parts of it, and says that a backup does not have it', async () => {
    const { options, objects } = await startBucket()
    const sandbox = createSandbox({ ...bucketEnv(options), E2E_BUCKET_SECRET: options.secretAccessKey })
    const first = await startServer(sandbox)
    const headers = bearer(await createToken(sandbox))
    const type = { 'content-type': 'application/octet-stream' }

    const upload = await fetch(`${first.url}/files`, {
      method: 'POST',
      body: CONTENT,
      headers: { ...headers, ...type },
    })
    const { id } = (await upload.json()) as { readonly id: string }
    await first.kill('SIGKILL')

    expect(upload.status).toBe(201)
    const sha256 = createHash('sha256').update(CONTENT).digest('hex')
    expect([...objects.keys()]).toEqual([expect.stringMatching(new RegExp(`^perdure/${sha256}/`))])
    const next = await startServer(sandbox)
    const whole = await fetch(`${next.url}/files/${id}`, { headers })
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(CONTENT)
    const part = await fetch(`${next.url}/files/${id}`, { headers: { ...headers, range: 'bytes=1000-1999' } })
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(CONTENT.slice(1_000, 2_000))
    expect(readdirSync(join(sandbox.dir, 'files/parts'))).toEqual([])

    const copy = join(mkdtempSync(join(sandbox.dir, 'backup-')), 'copy.db')
    const backup = await perdure(sandbox, ['backup', 'create', '--out', copy, '--verify', ...CONFIG])
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringContaining('verified') })
    expect(backup.stderr).toContain('the contents of files stay in the bucket')
    expect(existsSync(`${copy}.files`)).toBe(false)
    await next.kill('SIGTERM')
  })

  it('refuses an upload that the bucket does not take, and continues when it does', async () => {
    const bucket = await startBucket()
    const sandbox = createSandbox({ ...bucketEnv(bucket.options), E2E_BUCKET_SECRET: bucket.options.secretAccessKey })
    const server = await startServer(sandbox)
    const headers = { ...bearer(await createToken(sandbox)), 'content-type': 'application/octet-stream' }
    const upload = () => fetch(`${server.url}/files`, { method: 'POST', body: CONTENT, headers })
    bucket.fault = () => [403, 'AccessDenied']

    const refused = await upload()

    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: 'storage-unavailable' })
    bucket.fault = () => undefined
    expect((await upload()).status).toBe(201)
    await server.kill('SIGTERM')
  })

  it('does not start with half of a key, and doctor says what is wrong with a bucket', async () => {
    const { options } = await startBucket()
    const { PERDURE_STORAGE_FILES_S3_SECRET_ACCESS_KEY_REF: _, ...half } = bucketEnv(options)
    await expect(startServer(createSandbox(half))).rejects.toThrow(
      /exited with 2[\s\S]*storage\.files\.s3\.secretAccessKeyRef: missing, but bucket is set/,
    )

    const wrong = createSandbox({ ...bucketEnv(options), E2E_BUCKET_SECRET: 'other' })
    const { stdout } = await perdure(wrong, ['doctor', ...CONFIG])
    expect(stdout).toContain('403 SignatureDoesNotMatch')
    const right = createSandbox({ ...bucketEnv(options), E2E_BUCKET_SECRET: options.secretAccessKey })
    expect((await perdure(right, ['doctor', ...CONFIG])).stdout).toContain(
      `files answers; outbound: ${options.endpoint}`,
    )
  })
})
