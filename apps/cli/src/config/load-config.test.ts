import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { type ConfigFlags, loadConfig } from './load-config.ts'
import { validConfig } from './valid-config.ts'

describe('loadConfig', () => {
  const dir = temporaryDir()

  const write = (name: string, text: string) => writeFile(join(dir(), name), text)
  const load = (flags: ConfigFlags = {}, env: Record<string, string> = {}) => loadConfig({ cwd: dir(), env, flags })

  it('returns an empty configuration without a file', async () => {
    expect(await load()).toMatchObject({ input: {}, agents: [], configDir: dir(), configPath: undefined, warnings: [] })
  })

  it.each([
    ['perdure.config.ts', 'const port: number = 9001\nexport default { server: { port } }'],
    ['perdure.config.js', 'export default { server: { port: 9001 } }'],
    ['perdure.config.mjs', 'const port = await Promise.resolve(9001)\nexport default { server: { port } }'],
    ['perdure.config.json', '{ "server": { "port": 9001 } }'],
  ])('finds and loads %s', async (name, text) => {
    await write(name, text)

    expect(await load()).toMatchObject({ input: { server: { port: 9001 } }, configPath: join(dir(), name) })
  })

  it('prefers perdure.config.mjs over perdure.config.json', async () => {
    await write('perdure.config.json', '{ "server": { "port": 1 } }')
    await write('perdure.config.mjs', 'export default { server: { port: 2 } }')

    expect((await load()).input).toEqual({ server: { port: 2 } })
  })

  it('prefers flags over the environment, and the environment over the file', async () => {
    await write('perdure.config.json', '{ "server": { "port": 1, "host": "127.0.0.2", "basePath": "/file" } }')
    const { input } = await load({ port: 3 }, { PERDURE_SERVER_PORT: '2', PERDURE_SERVER_HOST: '127.0.0.3' })

    expect(input).toEqual({ server: { port: 3, host: '127.0.0.3', basePath: '/file' } })
  })

  it('separates registrations from configuration fields', async () => {
    await write(
      'perdure.config.mjs',
      `export default {
        agents: [{ id: 'a', description: '', agent: { id: 'a', run: async () => 1 } }],
        hooks: { onReady() {} },
        adapters: { clock: { now: () => 0 } },
      }`,
    )
    const loaded = await load()

    expect(loaded.input).toEqual({})
    expect(loaded.agents[0]?.id).toBe('a')
    expect(loaded.hooks).toHaveProperty('onReady')
    expect(loaded.adapters).toHaveProperty('clock')
  })

  it('separates a function that returns costs from the fields of the section models', async () => {
    await write('perdure.config.mjs', 'export default { models: { prices: ({ inputTokens }) => inputTokens } }')
    const loaded = await load()

    expect(loaded.input).toEqual({ models: {}, consolidator: undefined })
    expect(loaded.priceUsage?.({ provider: 'p', model: 'm', inputTokens: 3 })).toBe(3)
  })

  it('separates the phase functions of the consolidator from its configuration fields', async () => {
    await write(
      'perdure.config.mjs',
      `export default {
        consolidator: { leaseMs: 5_000, extract: async () => ({}) },
        embedder: { name: 'mine', dimensions: 2, embed: async () => [] },
      }`,
    )
    const loaded = await load()

    expect(loaded.input).toEqual({ consolidator: { leaseMs: 5_000 } })
    expect(loaded.consolidator.extract).toBeTypeOf('function')
    expect(loaded.embedder?.name).toBe('mine')
  })

  it.each([
    ['no default export', 'a.mjs', 'export const config = {}'],
    ['a default export that is an array', 'a.mjs', 'export default []'],
    ['agents that are not an array', 'a.mjs', 'export default { agents: {} }'],
    ['hooks that are not an object', 'a.mjs', 'export default { hooks: 1 }'],
    ['adapters that are not a plain object', 'a.mjs', 'export default { adapters: new Map() }'],
    ['a default export that is not a plain object', 'a.mjs', 'export default new Map()'],
    ['invalid JSON', 'a.json', '{ "server": }'],
    ['a module with a syntax error', 'a.mjs', 'export default {'],
  ])('rejects %s', async (_, name, text) => {
    await write(name, text)

    await expect(load({ config: name })).rejects.toMatchObject({ kind: 'config-invalid', hint: expect.any(String) })
  })

  it('names the file and line where an imported module throws', async () => {
    await write('broken.mjs', "\n\nthrow new Error('no key')\n")
    await write('a.mjs', "import './broken.mjs'\nexport default {}\n")

    await expect(load({ config: 'a.mjs' })).rejects.toMatchObject({
      message: expect.stringContaining('no key'),
      hint: `fix ${join(dir(), 'broken.mjs')}:3`,
    })
  })

  it('rejects a --config file that does not exist', async () => {
    await expect(load({ config: 'missing.json' })).rejects.toMatchObject({ kind: 'config-invalid' })
  })

  it('warns about unknown variables, except those that a secret reference names', async () => {
    const env = { PERDURE_AUTH_PEPPER_REF: 'env:PERDURE_PEPPER', PERDURE_PEPPER: 'x', PERDURE_PROT: '1' }

    expect((await load({}, env)).warnings).toEqual([expect.stringContaining('PERDURE_PROT')])
  })

  it('lets validConfig resolve storage.path from the folder of the configuration file', async () => {
    await write('a.json', '{ "storage": { "path": "./data/x.db" } }')

    expect(validConfig(await load({ config: 'a.json' })).storage.path).toBe(join(dir(), 'data/x.db'))
    expect(validConfig(await load()).storage.path).toBe(join(dir(), '.graphorin/data.db'))
  })

  it('keeps the storage path :memory:', async () => {
    expect(validConfig(await load({}, { PERDURE_STORAGE_PATH: ':memory:' })).storage.path).toBe(':memory:')
  })

  it('names the environment variable whose value is invalid', async () => {
    const loaded = await load({}, { PERDURE_SERVER_PORT: '99999', PERDURE_SERVER_HOST: 'localhost' })

    expect(() => validConfig(loaded)).toThrow(
      expect.objectContaining({ kind: 'config-invalid', hint: expect.stringMatching(/PERDURE_SERVER_PORT$/) }),
    )
  })

  it('rejects an unknown field, and a literal secret without repeating it', async () => {
    await write('a.json', '{ "auth": { "pepperRef": "0penSesame" } }')
    await write('b.json', '{ "server": { "prot": 1 } }')
    const bare = await load({ config: 'a.json' })
    const unknown = await load({ config: 'b.json' })

    expect(() => validConfig(bare)).toThrow(/auth\.pepperRef/)
    expect(() => validConfig(bare)).not.toThrow(/0penSesame/)
    expect(() => validConfig(unknown)).toThrow(/server\.prot/)
  })
})
