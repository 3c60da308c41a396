import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { served } from '../../test/served.ts'

const echo = { id: 'echo', description: '', agent: { id: 'echo', run: async (input: unknown) => input } }
const hook = (id: string) => ({ id, verify: () => ({ deliveryId: id }), to: { agent: 'echo' } })

const ESCAPES = '\u001b[31mred\u001b]0;title\u0007'

describe('what a sender of a hook has sent', () => {
  beforeAll(() => void vi.stubEnv('HOOK_SECRET', 'a secret'))
  afterAll(() => void vi.unstubAllEnvs())
  const input = ({ body }: { readonly body: unknown }) => {
    throw new Error(`no such title: ${(body as { readonly title: string }).title}`)
  }
  const failing = {
    id: 'github',
    verify: 'github',
    secretRef: 'env:HOOK_SECRET',
    to: { agent: 'echo', input },
  } as const
  const { perdure } = served({ agents: [echo] }, { webhooks: { in: [failing] } })

  it('cannot control the terminal', async () => {
    const sent = await perdure('hooks', 'test', 'github', '--body', JSON.stringify({ title: ESCAPES }))
    const id = /hkd_\w+/.exec(sent.out)?.[0] ?? ''
    const shown = await perdure('hooks', 'show', 'github', id)
    const replayed = await perdure('hooks', 'replay', 'github', id)

    for (const { out } of [sent, shown, replayed]) {
      expect(out).toContain('no such title: red')
      expect(out).not.toContain('\u001b')
    }
  })
})

describe('perdure hooks', () => {
  const { perdure } = served({ agents: [echo] }, { webhooks: { in: [hook('github'), hook('shop')] } })

  it.each([
    ['deliveries', 'githib'],
    ['deliveries', 'githib', '--status', 'dead'],
    ['test', 'githib'],
    ['replay', 'githib', 'hkd_1'],
  ])('%s names the hooks that exist if the id is wrong', async (...args) => {
    const { exitCode, out, err } = await perdure('hooks', ...args)

    expect([exitCode, out]).toEqual([1, ''])
    expect(err).toContain('error[hook-not-found]: no hook githib\n  hint: hooks: github, shop\n')
  })

  it('list no deliveries of a hook that has received none', async () => {
    expect(await perdure('hooks', 'deliveries', 'github')).toMatchObject({ exitCode: 0, out: 'nothing to show\n' })
  })
})
