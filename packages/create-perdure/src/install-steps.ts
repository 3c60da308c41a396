/**
 * Commands that install and start a new project, in order.
 * @param template text of the template's package.json
 * @param existing text of the project's own package.json, if any; the commands add missing entries and replace none
 */
export function installSteps(template: string, existing: string | undefined): readonly string[] {
  const wanted = membersOf(template)
  const present = existing === undefined ? wanted : membersOf(existing)
  const installed = { ...present.devDependencies, ...present.dependencies }
  const [packages, devPackages] = [wanted.dependencies, wanted.devDependencies].map((all) =>
    missingFrom(all, installed),
  )
  const settings = [
    ...missingFrom(wanted.top, present.top),
    ...missingFrom(wanted.scripts, present.scripts).map(([name, script]) => [`scripts.${name}`, script] as const),
  ]
  const dev = present.scripts.dev ?? wanted.scripts.dev
  const start = wanted.scripts.perdure === undefined ? 'npm start' : 'npm run perdure -- dev'
  return [
    ['npm install', ...packagesOf(packages)].join(' '),
    ...(devPackages?.length ? [['npm install --save-dev', ...packagesOf(devPackages)].join(' ')] : []),
    ...(settings.length === 0
      ? []
      : [['npm pkg set', ...settings.map(([name, value]) => `${name}=${quoted(value)}`)].join(' ')]),
    dev === wanted.scripts.dev ? 'npm run dev' : start,
  ]
}

type Values = Readonly<Record<string, unknown>>
type Entries = readonly (readonly [string, string])[]

interface Members {
  /** The members that decide how Node.js loads the files of a project. */
  readonly top: Values
  readonly scripts: Values
  readonly dependencies: Values
  readonly devDependencies: Values
}

function membersOf(text: string): Members {
  const document = parsed(text)
  const { type } = document
  const member = (name: string): Values => (isObject(document[name]) ? document[name] : {})
  return {
    top: type === undefined ? {} : { type },
    scripts: member('scripts'),
    dependencies: member('dependencies'),
    devDependencies: member('devDependencies'),
  }
}

/** A file that is not valid JSON counts as empty, because npm reports the position of the syntax error. */
function parsed(text: string): Values {
  try {
    const document: unknown = JSON.parse(text)
    return isObject(document) ? document : {}
  } catch {
    return {}
  }
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const missingFrom = (wanted: Values, present: Values): Entries =>
  Object.entries(wanted).flatMap(([name, value]) => (Object.hasOwn(present, name) ? [] : [[name, String(value)]]))

const packagesOf = (entries: Entries = []): readonly string[] => entries.map(([name, range]) => `"${name}@${range}"`)

const quoted = (value: string): string => (/^[\w-]+$/.test(value) ? value : `"${value}"`)
