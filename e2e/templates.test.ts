import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { removeFolder, perdure as runBinary, type Sandbox, startServer } from './perdure-process.ts'

const CLI = join(import.meta.dirname, '../apps/cli')

/** Creates a project from a template and serves it with the dependencies of its package.json. */
async function serveTemplate(template: string) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-template-')))
  onTestFinished(() => removeFolder(dir))
  const { PERDURE_URL: _, PERDURE_TOKEN: __, AI_GATEWAY_API_KEY: ___, ...env } = process.env
  const sandbox: Sandbox = { dir, env: { ...env, XDG_CONFIG_HOME: join(dir, 'settings') } }
  const perdure = (...args: readonly string[]) => runBinary(sandbox, args)
  expect(await perdure('init', '--template', template, '--yes')).toMatchObject({ code: 0 })
  if (template === 'ai-sdk') {
    mkdirSync(join(dir, 'node_modules'))
    symlinkSync(join(CLI, 'node_modules/ai'), join(dir, 'node_modules/ai'))
  }
  const server = await startServer(sandbox, ['dev', '--no-watch', '--port', '0'])
  onTestFinished(async () => void (await server.kill('SIGTERM')))
  const json = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await perdure(...args, '--json')
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout)
  }
  return { sandbox, perdure, json }
}

describe('a project created by perdure init', () => {
  it('answers when created from the basic template', async () => {
    const { perdure } = await serveTemplate('basic')
    const { code, stdout } = await perdure('agents', 'run', 'echo', '--input', '{"text":"hi"}', '--stream')

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' })
  })

  it('pays after an approval when created from the workflow template', async () => {
    const { json } = await serveTemplate('workflow')
    const { runId } = await json('workflows', 'run', 'refund', '--input', '{"orderId":"A-17","amount":40}')
    await expect.poll(async () => (await json('approvals', 'list')).items.length).toBe(1)
    const [approval] = (await json('approvals', 'list')).items
    await json('approvals', 'approve', approval.id, '--reason', 'wrong size')

    await expect
      .poll(async () => json('runs', 'show', runId))
      .toMatchObject({ status: 'completed', result: { paid: true, by: 'dev' } })
  })

  it('streams and counts the tokens of a mock model when created from the ai-sdk template without a key', async () => {
    const { perdure, json } = await serveTemplate('ai-sdk')
    const { code, stdout } = await perdure('agents', 'run', 'assistant', '--input', '{"text":"hi there"}', '--stream')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'You said: hi there\n' })

    expect(await json('runs', 'show', 'last')).toMatchObject({
      result: { text: 'You said: hi there' },
      usage: { inputTokens: 4, outputTokens: 4 },
    })
  })

  it('pins the AI SDK version that the tests use', () => {
    const read = (path: string) => readFileSync(join(CLI, path), 'utf8')
    const { dependencies } = JSON.parse(read('templates/ai-sdk/package.json'))
    const catalog = readFileSync(join(CLI, '../../pnpm-workspace.yaml'), 'utf8')

    expect(catalog).toContain(`\n  ai: ${dependencies.ai}\n`)
  })
})
