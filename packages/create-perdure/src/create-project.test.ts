import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createProject } from './create-project.ts'
import { TEMPLATE_NAMES } from './templates.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'create-perdure-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const create = (...args: readonly string[]) => createProject(args, { cwd, ask: undefined })

/** Runs the command in a terminal in which a person types these answers. */
async function createInTerminal(answers: readonly string[], ...args: readonly string[]) {
  const questions: string[] = []
  const left = [...answers]
  const ask = async (question: string) => {
    questions.push(question)
    return left.shift() ?? ''
  }
  return { ...(await createProject(args, { cwd, ask })), questions }
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(cwd, folder, 'package.json'), 'utf8'))

describe('createProject', () => {
  it.each(TEMPLATE_NAMES)('writes the template into a new folder, named after the folder: %s', async (template) => {
    const { exitCode, out, err } = await create('apps/my-app', '--template', template)

    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(out).toContain('next: cd apps/my-app && npm install && npm run dev\n')
    expect(manifestOf('apps/my-app')).toMatchObject({ name: 'my-app', type: 'module' })
    expect(readdirSync(join(cwd, 'apps/my-app'))).toEqual(
      expect.arrayContaining(['.agents', '.gitignore', 'AGENTS.md', 'README.md']),
    )
    expect(readFileSync(join(cwd, 'apps/my-app/package.json'), 'utf8')).not.toContain('$')
  })

  it('takes defaults without a terminal', async () => {
    expect((await create()).exitCode).toBe(0)

    expect(readdirSync(join(cwd, 'perdure-app'))).toContain('perdure.config.ts')
  })

  it('asks in a terminal for what is not given', async () => {
    const { exitCode, questions } = await createInTerminal(['shop', 'embed-express'])

    expect(exitCode).toBe(0)
    expect(questions).toEqual([
      'Folder (perdure-app): ',
      expect.stringMatching(/workflow.+\n.*\n.*\n.*\nTemplate \(workflow\): /),
    ])
    expect(existsSync(join(cwd, 'shop/app.ts'))).toBe(true)
  })

  it('takes the default for an empty answer, and asks for nothing that is given', async () => {
    expect((await createInTerminal([''], 'shop')).questions).toHaveLength(1)
    expect((await createInTerminal([], 'other', '-t', 'workflow')).questions).toEqual([])

    expect(readdirSync(cwd).sort()).toEqual(['other', 'shop'])
  })

  it('writes into an empty folder, and into one that has only a repository', async () => {
    mkdirSync(join(cwd, 'empty'))
    mkdirSync(join(cwd, 'repository/.git'), { recursive: true })

    expect((await create('empty')).exitCode).toBe(0)
    expect((await create('repository')).exitCode).toBe(0)
  })

  it.each([
    [['Shop'], 2, 'use lower-case letters'],
    [['.hidden'], 2, 'use lower-case letters'],
    [['shop', '--template', 'fancy'], 2, 'use one of workflow, chat, embed-express, embed-next'],
    [['shop', 'more'], 2, 'pass one folder'],
    [['shop', '--force'], 2, 'npm create perdure@latest -- --help'],
    [['taken'], 6, 'choose a new or empty folder'],
    [['file'], 6, 'choose a new or empty folder'],
  ])('refuses %j with the exit code %i, writes nothing and says what to do', async (args, exitCode, hint) => {
    mkdirSync(join(cwd, 'taken'))
    writeFileSync(join(cwd, 'taken/notes.txt'), 'mine')
    writeFileSync(join(cwd, 'file'), 'mine')

    const outcome = await create(...args)

    expect(outcome).toMatchObject({ exitCode, out: '', err: expect.stringContaining(hint) })
    expect(outcome.err).toMatch(/^error\[[\w-]+\]: .+\n {2}hint: .+\n$/)
    expect(readdirSync(cwd).sort()).toEqual(['file', 'taken'])
    expect(readdirSync(join(cwd, 'taken'))).toEqual(['notes.txt'])
  })

  it('prints its help with the templates', async () => {
    const { exitCode, out } = await create('--help')

    expect(exitCode).toBe(0)
    for (const name of TEMPLATE_NAMES) expect(out).toContain(`  ${name} `)
    expect(readdirSync(cwd)).toEqual([])
  })
})
