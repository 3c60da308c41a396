import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { removeFolder, perdure as runBinary, type Sandbox, startServer } from './perdure-process.ts'

const PACKAGES = join(import.meta.dirname, '../packages')

/** Creates a project with `perdure init` and serves it with the packages of this repository. */
async function serveTemplate(template: string) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-template-')))
  onTestFinished(() => removeFolder(dir))
  const { PERDURE_URL: _, PERDURE_TOKEN: __, ...env } = process.env
  const sandbox: Sandbox = { dir, env: { ...env, XDG_CONFIG_HOME: join(dir, 'settings') } }
  const perdure = (...args: readonly string[]) => runBinary(sandbox, args)
  expect(await perdure('init', '--template', template, '--yes')).toMatchObject({ code: 0 })
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(join(PACKAGES, 'perdure'), join(dir, 'node_modules/perdure'))
  symlinkSync(join(PACKAGES, 'server-app/node_modules/zod'), join(dir, 'node_modules/zod'))
  const server = await startServer(sandbox, ['dev', '--no-watch', '--port', '0'])
  onTestFinished(async () => void (await server.kill('SIGTERM')))
  return async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await perdure(...args, '--json')
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout)
  }
}

describe('a project created by perdure init', () => {
  it('pays after an approval when created from the workflow template', async () => {
    const json = await serveTemplate('workflow')
    const input = '{"orderId":"A-17","amount":40,"reason":"wrong size"}'
    const { runId } = await json('workflows', 'run', 'refund', '--input', input)
    await expect.poll(async () => (await json('approvals', 'list')).items.length).toBe(1)
    const [approval] = (await json('approvals', 'list')).items
    await json('approvals', 'approve', approval.id, '--reason', 'as promised')

    await expect
      .poll(async () => json('runs', 'show', runId))
      .toMatchObject({ status: 'completed', result: { paid: true, by: 'dev' } })
  })
})
