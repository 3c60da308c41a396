import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { loadConfig } from '../config/load-config.ts'
import { devConfig } from './dev-config.ts'

describe('devConfig', () => {
  const dir = temporaryDir()

  const make = async (env: Record<string, string> = {}) => devConfig(await loadConfig({ cwd: dir(), env, flags: {} }))

  it('generates a pepper next to the database that only its owner can read', async () => {
    const { config, pepperPath } = await make()
    const path = join(dir(), '.graphorin/dev-pepper')

    expect(pepperPath).toBe(path)
    expect(config.auth.pepperRef).toBe(`file:${path}`)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(dir(), '.graphorin'))).mode & 0o777).toBe(0o700)
    expect((await readFile(path, 'utf8')).trim().length).toBeGreaterThanOrEqual(32)
  })

  it('keeps an existing pepper', async () => {
    const { pepperPath = '' } = await make()
    const first = await readFile(pepperPath, 'utf8')
    await make()

    expect(await readFile(pepperPath, 'utf8')).toBe(first)
  })

  it.each([[{ PERDURE_AUTH_PEPPER_REF: 'env:PERDURE_PEPPER' }], [{ PERDURE_AUTH_KIND: 'none' }]])(
    'generates no pepper with %j',
    async (env) => {
      expect((await make(env)).pepperPath).toBeUndefined()
      await expect(stat(join(dir(), '.graphorin'))).rejects.toThrow('ENOENT')
    },
  )

  it('raises the rate limit unless one is configured', async () => {
    expect((await make()).config.server.rateLimit.perIpRequests).toBe(10_000)
    expect((await make({ PERDURE_SERVER_RATE_LIMIT_PER_IP_REQUESTS: '5' })).config.server.rateLimit.perIpRequests).toBe(
      5,
    )
  })

  it('rejects an in-memory database', async () => {
    await expect(make({ PERDURE_STORAGE_PATH: ':memory:' })).rejects.toMatchObject({ kind: 'config-invalid' })
  })
})
