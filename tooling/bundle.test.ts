import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'

const CLIENT = JSON.stringify(join(import.meta.dirname, '../packages/client/src/index.ts'))

/** Bundles a page that uses only these exports of the client. */
const bundle = (...names: string[]) => bundleOf(`export { ${names.join(', ')} } from ${CLIENT}`)

async function bundleOf(entry: string) {
  const build = await rolldown({
    input: 'entry.ts',
    platform: 'browser',
    resolve: { conditionNames: ['perdure-source', 'import', 'default'] },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry.ts' ? id : null),
        load: (id) => (id === 'entry.ts' ? entry : null),
      },
    ],
  })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  const [{ code, imports, moduleIds }] = output
  const text = moduleIds.filter((id) => id !== 'entry.ts').join('\n')
  return { code, imports, text, gzipBytes: gzipSync(code).length }
}

describe('a browser bundle of the client', () => {
  it('contains one third-party package, no validation library and no Node.js module', async () => {
    const { text, imports, gzipBytes } = await bundle('createClient', 'PerdureError')

    expect(text).toContain('eventsource-parser')
    expect(text).not.toMatch(/valibot|packages[\\/]protocol[\\/]src[\\/](?!perdure-error\.ts)/)
    expect(imports).toEqual([])
    expect(gzipBytes).toBeLessThan(11_350)
  })

  it('does not grow when the client uses the type of a configuration, which loads no server code', async () => {
    const config = JSON.stringify(join(import.meta.dirname, '../packages/server-app/src/config.ts'))
    const page = (parameter: string) =>
      `import { createClient } from ${CLIENT}\nimport type * as config from ${config}\nexport const client = createClient${parameter}({ baseUrl: '/v1' })`
    const [typed, untyped] = [await bundleOf(page('<typeof config>')), await bundleOf(page(''))]

    expect(typed.code).toBe(untyped.code)
    expect(typed.text).not.toMatch(/server-app|packages[\\/]core/)
  })

  it.each([
    ['createChatFetch', /socket|rest-|run-events|follower/, 4_000],
    ['PerdureError', /client|eventsource-parser/, 1_000],
  ])('omits the modules that a page with only %s does not need', async (name, unused, maxBytes) => {
    const { text, gzipBytes } = await bundle(name)
    const own = text.split('\n').map((id) => id.replace(/^.*(?:packages[\\/]client[\\/]src|node_modules)/, ''))

    expect(own.filter((id) => unused.test(id))).toEqual([])
    expect(gzipBytes).toBeLessThan(maxBytes)
  })
})
