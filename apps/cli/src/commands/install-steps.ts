import { isPlainObject } from '@perdure/protocol'

/**
 * Commands that install and start a new project, in order.
 * @param template text of the template's package.json
 * @param existing text of the project's own package.json, if any; the commands add missing entries and replace none
 */
export function installSteps(template: string, existing: string | undefined): readonly string[] {
  const wanted = membersOf(template)
  const present = existing === undefined ? wanted : membersOf(existing)
  const packages = missingFrom(wanted.dependencies, { ...present.devDependencies, ...present.dependencies })
  const scripts = missingFrom(wanted.scripts, present.scripts)
  const dev = present.scripts.dev ?? wanted.scripts.dev
  return [
    ['npm install', ...packages.map(([name, range]) => `"${name}@${range}"`)].join(' '),
    ...(scripts.length === 0
      ? []
      : [['npm pkg set', ...scripts.map(([name, script]) => `scripts.${name}=${quoted(script)}`)].join(' ')]),
    dev === wanted.scripts.dev ? 'npm run dev' : 'npm run perdure -- dev',
  ]
}

type Members = Readonly<Record<'scripts' | 'dependencies' | 'devDependencies', Readonly<Record<string, unknown>>>>

function membersOf(text: string): Members {
  const document = parsed(text)
  const member = (name: string) => (isPlainObject(document) && isPlainObject(document[name]) ? document[name] : {})
  return {
    scripts: member('scripts'),
    dependencies: member('dependencies'),
    devDependencies: member('devDependencies'),
  }
}

/** A file that is not valid JSON counts as empty, because npm reports the position of the syntax error. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const missingFrom = (wanted: Members['scripts'], present: Members['scripts']): readonly (readonly [string, string])[] =>
  Object.entries(wanted).flatMap(([name, value]) => (Object.hasOwn(present, name) ? [] : [[name, String(value)]]))

const quoted = (value: string): string => (value.includes(' ') ? `"${value}"` : value)
