import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { isRefusal } from '@perdure/ports'
import { REFUSED_SKILL_PATHS, type SkillFixture } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { type FileAccess, fileAccess } from './file-access.ts'
import { openSkills, skillText, writeFiles, writeSkill } from './skills.fixture.ts'

const PDF: SkillFixture = {
  name: 'pdf',
  description: 'Fills forms.',
  instructions: 'Read forms.md.',
  files: { 'forms.md': 'fields', 'scripts/fill.py': 'print(1)' },
}

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (isRefusal(error) ? error.code : error),
  )

/** Records every opened path. */
function watched() {
  const opened: string[] = []
  const access: FileAccess = {
    ...fileAccess,
    open(path) {
      opened.push(path)
      return fileAccess.open(path)
    },
  }
  return { opened, access }
}

describe('reading the file of a skill', () => {
  it('opens no file outside the skill folder for any path', async () => {
    const { opened, access } = watched()
    const { store, root, directory } = await openSkills({ access })
    await writeSkill(directory, PDF)
    await writeSkill(directory, { ...PDF, name: 'other' })
    await writeFiles(root, { 'secret.txt': 'secret' })
    const folder = join(directory, 'pdf')
    await symlink(join(root, 'secret.txt'), join(folder, 'link.txt'))
    await symlink(root, join(folder, 'up'))
    await symlink('../other/forms.md', join(folder, 'neighbour.md'))
    await symlink('/etc', join(folder, 'etc'))
    await symlink('loop', join(folder, 'loop'))
    const corpus = [
      ...REFUSED_SKILL_PATHS,
      ...['link.txt', 'up/secret.txt', 'up', 'neighbour.md', 'etc/passwd', 'etc', 'up/skills/other/forms.md'],
      ...['%2e%2e/secret.txt', '..%2fsecret.txt', '....//secret.txt', 'loop', 'scripts', 'forms.md ', '~/secret.txt'],
      ...['file:///etc/passwd', 'forms.md:stream', '.../secret.txt', 'scripts/fill.py/../../../../secret.txt'],
      ...['\u2025/secret.txt', '．．/secret.txt', 'scripts/\u0000../x', 'NUL', 'a'.repeat(300)],
    ]
    opened.length = 0

    for (const path of corpus) {
      const bytes = await store.readFile('pdf', path).catch(() => undefined)
      expect(bytes, JSON.stringify(path)).toBeUndefined()
    }

    expect(opened.length).toBeGreaterThan(0)
    for (const path of opened) expect(path.startsWith(folder + sep), path).toBe(true)
  })

  it('follows a link that stays inside the skill folder', async () => {
    const { store, directory } = await openSkills()
    await writeSkill(directory, PDF)
    await symlink('forms.md', join(directory, 'pdf', 'alias.md'))

    expect(new TextDecoder().decode(await store.readFile('pdf', 'alias.md'))).toBe('fields')
  })

  it('rejects folders, named pipes and oversized files without blocking', async () => {
    const { store, directory } = await openSkills()
    await writeSkill(directory, { ...PDF, files: { 'large.txt': 'x'.repeat(10_001), 'scripts/a': '' } })
    execFileSync('mkfifo', [join(directory, 'pdf', 'pipe')])

    for (const path of ['scripts', 'pipe', 'large.txt']) {
      expect(await refusal(store.readFile('pdf', path)), path).toBe('validation-failed')
    }
  })
})

describe('a folder without a usable skill', () => {
  const failing: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    ['no-front-matter', '# Hello', /does not begin with front matter/],
    ['unclosed', '---\nname: unclosed\n', /does not begin with front matter/],
    ['not-yaml', '---\nname: [\n---\n', /is not valid YAML/],
    ['a-list', '---\n- a\n---\n', /not a mapping/],
    ['empty', '---\n---\n', /not a mapping/],
    ['nameless', '---\ndescription: d\n---\n', /^name:/],
    ['misnamed', '---\nname: other\ndescription: d\n---\n', /the skill folder is named misnamed/],
    ['escaping', '---\nname: ../escaping\ndescription: d\n---\n', /^name:/],
    ['silent', '---\nname: silent\n---\n', /^description:/],
    ['numbered', '---\nname: numbered\ndescription: 7\n---\n', /^description:/],
    ['wordy', `---\nname: wordy\ndescription: ${'x'.repeat(1_025)}\n---\n`, /^description:/],
    ['bytes', new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe]), /not UTF-8/],
    ['twice', '---\nname: twice\nname: twice\ndescription: d\n---\n', /is not valid YAML/],
    ['large', `---\nname: large\ndescription: d\n---\n${'x'.repeat(10_001)}`, /larger than/],
    [
      'laughs',
      `---\na: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((letter, index) => `${letter}: &${letter} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
        .join('\n')}\n---\n`,
      /is not valid YAML/,
    ],
    ['deep', `---\na: ${'['.repeat(9_000)}\n---\n`, /is not valid YAML/],
  ]

  it.each(failing)('is listed as failing with the reason in case %s', async (name, text, reason) => {
    const { store, directory } = await openSkills()
    await writeSkill(directory, PDF)
    await writeFiles(join(directory, name), { 'SKILL.md': text })

    const listed = (await store.list()).find((skill) => skill.name === name)

    expect(listed).toMatchObject({ status: 'failing', description: '', reason: expect.stringMatching(reason) })
    expect(await store.find(name)).toMatchObject({ status: 'failing', instructions: '', files: [] })
    expect((await store.list()).find((skill) => skill.name === 'pdf')?.status).toBe('ready')
  })

  it('is not listed when it has no SKILL.md, is hidden, is a link or is a file', async () => {
    const { store, directory, root } = await openSkills()
    await writeSkill(directory, PDF)
    await writeSkill(root, { ...PDF, name: 'outside' })
    await writeFiles(directory, { 'docs/readme.md': '', 'file.md': '', '.hidden/SKILL.md': skillText(PDF) })
    await symlink(join(root, 'outside'), join(directory, 'outside'))

    expect((await store.list()).map(({ name }) => name)).toEqual(['pdf'])
    for (const name of ['docs', '.hidden', 'outside', 'file.md']) expect(await store.find(name)).toBeUndefined()
  })

  it('is listed as failing when its SKILL.md is a link to a file outside the folder', async () => {
    const { store, directory, root } = await openSkills()
    await writeFiles(root, { 'outside.md': skillText({ ...PDF, name: 'linked' }) })
    await mkdir(join(directory, 'linked'), { recursive: true })
    await symlink(join(root, 'outside.md'), join(directory, 'linked', 'SKILL.md'))

    expect(await store.list()).toMatchObject(
      [{ name: 'linked', status: 'failing', reason: /leads out/ }].map(({ reason, ...rest }) => ({
        ...rest,
        reason: expect.stringMatching(reason),
      })),
    )
  })
})

describe('the list of skill directories', () => {
  it('is searched in order, and a missing directory is ignored', async () => {
    const { root } = await openSkills()
    const [one, two, none] = ['one', 'two', 'none'].map((name) => join(root, name)) as [string, string, string]
    await writeSkill(one, { ...PDF, description: 'first' })
    await writeSkill(two, { ...PDF, description: 'second' })
    await writeSkill(two, { ...PDF, name: 'more' })
    const { store } = await openSkills({ directories: [none, one, two] })

    expect((await store.list()).map(({ name, description }) => [name, description])).toEqual([
      ['more', 'Fills forms.'],
      ['pdf', 'first'],
    ])
  })
})

describe('installing a skill', () => {
  it('copies a source folder without the links in it', async () => {
    const { store, source, directory, root } = await openSkills()
    await writeSkill(join(source, 'team'), PDF)
    await writeFiles(root, { 'secret.txt': 'secret' })
    await symlink(join(root, 'secret.txt'), join(source, 'team/pdf/link.txt'))

    expect(await store.install('team/pdf')).toMatchObject({ name: 'pdf', status: 'ready' })

    expect((await readdir(join(directory, 'pdf'))).sort()).toEqual(['SKILL.md', 'forms.md', 'scripts'])
    expect(await readdir(directory)).toEqual(['pdf'])
  })

  it('rejects a source that links to a folder outside the source directory', async () => {
    const { store, source, root } = await openSkills()
    await mkdir(source, { recursive: true })
    await writeSkill(root, PDF)
    await symlink(join(root, 'pdf'), join(source, 'pdf'))

    expect(await refusal(store.install('pdf'))).toBe('validation-failed')
  })

  it.each([
    ['is malformed', { 'SKILL.md': 'nothing' }],
    ['has no SKILL.md', { 'a.md': '' }],
    ['is too large', { 'SKILL.md': skillText(PDF), a: 'x'.repeat(9_999), b: 'x'.repeat(9_999), c: 'x'.repeat(999) }],
  ])('leaves no files behind when the skill %s', async (_, files) => {
    const { store, source, directory } = await openSkills()
    await writeFiles(join(source, 'pdf'), files)

    expect(await refusal(store.install('pdf'))).toBe('validation-failed')
    expect(await readdir(directory).catch(() => [])).toEqual([])
  })

  it('fails when no skill directory is configured', async () => {
    const { store, source } = await openSkills({ directories: [] })
    await writeSkill(source, PDF)

    expect(await refusal(store.install('pdf'))).toBe('validation-failed')
  })

  it('ignores folders left behind by a crash', async () => {
    const { store, source, directory } = await openSkills()
    await writeSkill(source, PDF)
    await writeSkill(directory, PDF)
    await rename(join(directory, 'pdf'), join(directory, '.installing-abc'))
    await writeFile(join(directory, '.installing-abc', 'half'), '')

    expect(await store.list()).toEqual([])
    expect(await store.install('pdf')).toMatchObject({ name: 'pdf' })
  })
})
