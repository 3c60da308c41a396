import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { documentsFolder } from '../docs/documents.ts'
import { runCli } from '../run-cli.ts'

const ROOT = join(import.meta.dirname, '../../../..')

async function search(cwd: string, ...args: readonly string[]) {
  const terminal = recordingTerminal({ cwd })
  const exitCode = await runCli(['docs', 'search', ...args], terminal)
  return { exitCode, out: terminal.out(), err: terminal.err() }
}

describe('perdure docs search', () => {
  it('prints title, section and a path that can be opened', async () => {
    const { exitCode, out, err } = await search(ROOT, 'wait', 'for', 'an', 'approval', '--json')

    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const { items } = JSON.parse(out)
    const [first] = items
    expect(items).toHaveLength(10)
    expect(items.map(({ title }: { title: string }) => title)).toContain('Approvals')
    expect(readFileSync(join(ROOT, first.path), 'utf8').split('\n')[first.line - 1]).toContain(first.section)
  })

  it('limits the number of sections', async () => {
    const { out } = await search(ROOT, 'approval', '--limit', '2')

    expect(out.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^TITLE +SECTION +PATH$/),
      expect.stringMatching(/docs\/(?:guides|reference)\/[\w-]+\.md:\d+$/),
      expect.stringMatching(/\.md:\d+$/),
    ])
  })

  it('exits with 1 and a hint when nothing is found', async () => {
    const { exitCode, out, err } = await search(ROOT, 'elephantine')

    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
    expect(err).toMatch(/error\[docs-nothing-found\]: no document contains elephantine\n {2}hint: try .+ in docs\n/)
  })
})

describe('documentsFolder', () => {
  const dir = temporaryDir()

  /** Installs the package below a folder. */
  const install = (project: string): string => {
    const docs = join(dir(), project, 'node_modules/perdure/docs')
    mkdirSync(join(docs, 'guides'), { recursive: true })
    mkdirSync(join(docs, '../bin'))
    writeFileSync(join(docs, '../bin/perdure.js'), '')
    return docs
  }

  it('finds the documents of the command that was started, through the link of a package manager', () => {
    const docs = install('global')
    symlinkSync(join(docs, '../bin/perdure.js'), join(dir(), 'perdure'))

    expect(documentsFolder({ cwd: dir(), script: join(dir(), 'perdure'), source: undefined })).toBe(docs)
  })

  it('finds those that the working folder or a folder above it has installed', () => {
    const docs = install('project')
    const cwd = join(dir(), 'project/src/agents')
    mkdirSync(cwd, { recursive: true })

    expect(documentsFolder({ cwd, script: '/missing/perdure.js', source: undefined })).toBe(docs)
  })

  it('finds none without the package', () => {
    expect(documentsFolder({ cwd: dir(), script: undefined, source: undefined })).toBeUndefined()
  })
})
