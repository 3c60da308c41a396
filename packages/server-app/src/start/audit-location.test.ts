import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '@perdure/ports'
import { ServerConfigSchema } from '@perdure/protocol'
import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createServer } from '../create-server.ts'
import { checkpointPath } from './audit-location.ts'

const ignore = () => undefined
const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'perdure-audit-location-'))
  mkdirSync(join(directory, 'folder'))
  writeFileSync(join(directory, 'file'), '')
})
afterEach(() => rmSync(directory, { recursive: true }))

const serverWith = (checkpointPath: string) =>
  createServer({
    config: {
      ...{ server: { port: 0 }, auth: { kind: 'none' }, storage: { path: 'data.db' } },
      audit: { checkpointPath },
    },
    configDir: directory,
    adapters: { logger },
  })

describe('audit.checkpointPath', () => {
  it.each([
    ['folder', 'is a folder'],
    ['file/below', 'ENOTDIR'],
  ])('makes startup fail with the reason, and releases the database, if it is %s', async (path, reason) => {
    const refused = await serverWith(path)

    await expect(refused.start()).rejects.toMatchObject({
      kind: 'config-invalid',
      message: expect.stringContaining(reason),
      hint: expect.stringContaining('audit.checkpointPath'),
    })

    const next = await serverWith('checkpoints')
    await next.start()
    await next.stop()
    expect(statSync(join(directory, 'folder')).isDirectory()).toBe(true)
  })

  it('is by default a file of the schema, so that two schemas do not share one', () => {
    const pathOf = (schema: string, enabled: boolean) =>
      checkpointPath(v.parse(ServerConfigSchema, { storage: { kind: 'postgres', schema }, audit: { enabled } }), '/srv')

    expect([pathOf('blue', false), pathOf('blue', true), pathOf('green', false)]).toEqual([
      '/srv/.graphorin/blue.checkpoints',
      '/srv/.graphorin/blue_audit.checkpoints',
      '/srv/.graphorin/green.checkpoints',
    ])
  })

  it('may name a file in a missing folder, which startup creates', async () => {
    const server = await serverWith('later/checkpoints')
    await server.start()

    await server.stop()
  })
})
