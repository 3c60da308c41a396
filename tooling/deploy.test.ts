import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { configFields } from '@perdure/protocol'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { toolPath } from './machine-tools.ts'
import { needsTool } from './needed-tool.ts'

const DEPLOY = join(import.meta.dirname, '../deploy')
const text = (file: string) => readFileSync(join(DEPLOY, file), 'utf8')

const dockerfile = text('Dockerfile')
const unit = text('perdure.service')
const nginx = text('nginx.conf')
const caddyfile = text('Caddyfile')
const clusterCaddyfile = text('Caddyfile.cluster')

/** Parses every document strictly: duplicate keys and ambiguous values are errors. */
function yaml<Document>(file: string): readonly Document[] {
  return parseAllDocuments(text(file), { strict: true, uniqueKeys: true, merge: true }).map((document) => {
    expect([document.errors, document.warnings]).toEqual([[], []])
    return document.toJS() as Document
  })
}

interface Compose {
  readonly services: Readonly<
    Record<
      'perdure' | 'perdure-1' | 'perdure-2' | 'perdure-3' | 'caddy' | 'postgres',
      {
        readonly stop_grace_period?: string
        readonly environment: Readonly<Record<string, string>>
        readonly expose?: readonly string[]
        readonly volumes: readonly string[]
        readonly secrets?: readonly string[]
        readonly depends_on?: Readonly<Record<string, unknown>>
        readonly network_mode?: string
      }
    >
  >
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, unknown>>
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly failureThreshold: number
}

interface Deployment {
  readonly kind: 'Deployment'
  readonly spec: {
    readonly replicas: number
    readonly strategy: { readonly type: string; readonly rollingUpdate?: Readonly<Record<string, number>> }
    readonly selector: { readonly matchLabels: Labels }
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: {
        readonly terminationGracePeriodSeconds: number
        readonly topologySpreadConstraints?: readonly unknown[]
        readonly securityContext: Readonly<Record<string, unknown>>
        readonly volumes: readonly { readonly name: string; readonly persistentVolumeClaim?: { claimName: string } }[]
        readonly containers: readonly [
          {
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
            readonly env: readonly { readonly name: string; readonly value?: string }[]
            readonly startupProbe: Probe
            readonly livenessProbe: Probe
            readonly readinessProbe: Probe
            readonly securityContext: Readonly<Record<string, unknown>>
            readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
          },
        ]
      }
    }
  }
}

type Labels = Readonly<Record<string, string>>

interface Service {
  readonly kind: 'Service'
  readonly spec: { readonly selector: Labels; readonly ports: readonly { readonly targetPort: string }[] }
}

interface Budget {
  readonly kind: 'PodDisruptionBudget'
  readonly spec: { readonly maxUnavailable: number; readonly selector: { readonly matchLabels: Labels } }
}

interface Claim {
  readonly kind: 'PersistentVolumeClaim'
  readonly metadata: { readonly name: string }
}

const manifests = yaml<Deployment | Service | Claim>('kubernetes.yaml')
const ofKind = <Kind extends (typeof manifests)[number]['kind']>(kind: Kind) =>
  manifests.find((manifest) => manifest.kind === kind) as Extract<(typeof manifests)[number], { readonly kind: Kind }>

const [{ services, volumes, secrets } = expect.fail('no document')] = yaml<Compose>('compose.yaml')
const [onPostgres = expect.fail('no document')] = yaml<Compose>('compose.postgres.yaml')
const { spec: deployment } = ofKind('Deployment')
const { spec: pod } = deployment.template
const [container] = pod.containers

function defaultOf(path: string): number {
  const value = configFields.find((field) => field.path === path)?.default
  if (typeof value !== 'number') throw new Error(`${path} has no numeric default`)
  return value
}

const directive = (name: string, source = unit) =>
  [...source.matchAll(new RegExp(`^\\s*${name}[= ](?<value>.*?);?$`, 'gm'))].map(({ groups }) => groups?.value ?? '')

/** The drain timeout, five seconds to abort the remaining runs, and five seconds of slack. */
const KILL_TIMEOUT_SECONDS = defaultOf('server.shutdown.drainTimeoutMs') / 1_000 + 5 + 5

describe('the deploy folder', () => {
  it('gives the server enough time to shut down with default settings', () => {
    expect({
      systemd: directive('TimeoutStopSec').map(Number),
      compose: [Number.parseInt(services.perdure.stop_grace_period ?? '', 10)],
      kubernetes: [pod.terminationGracePeriodSeconds],
    }).toEqual({ systemd: [KILL_TIMEOUT_SECONDS], compose: [KILL_TIMEOUT_SECONDS], kubernetes: [KILL_TIMEOUT_SECONDS] })
    expect(services.perdure.stop_grace_period).toMatch(/^\d+s$/)
    expect(directive('KillSignal')).toEqual(['SIGTERM'])
  })

  it('uses the default port of the server', () => {
    const port = defaultOf('server.port')

    expect(directive('EXPOSE', dockerfile)).toEqual([String(port)])
    expect(services.perdure.expose).toEqual([String(port)])
    expect(services.caddy.environment.PERDURE_UPSTREAM).toBe(`perdure:${port}`)
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }])
    expect(ofKind('Service').spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
    expect(caddyfile).toContain(`{$PERDURE_UPSTREAM:127.0.0.1:${port}}`)
    expect(directive('server', nginx)).toContain(`127.0.0.1:${port}`)
  })

  it('sets only variables that are configuration fields or secret references', () => {
    const fields = new Set(configFields.map(({ env }) => env))
    const ofProxy = ['PERDURE_SITE', 'PERDURE_UPSTREAM', 'PERDURE_UPSTREAMS']
    const sources = [
      dockerfile,
      unit,
      text('compose.yaml'),
      text('compose.postgres.yaml'),
      text('kubernetes.yaml'),
      text('kubernetes.postgres.yaml'),
      caddyfile,
      clusterCaddyfile,
    ]
    const named = new Set(sources.flatMap((source) => source.match(/(?<!env:)\bPERDURE_[A-Z_]+\b/g) ?? []))
    const referenced = sources.flatMap((source) => source.match(/(?<=env:)PERDURE_[A-Z_]+\b/g) ?? [])
    // kubernetes.yaml mentions this variable only in a comment, as an example of a variable that Kubernetes sets.
    named.delete('PERDURE_SERVER_PORT')
    // A variable of clients, which the Dockerfile mentions in a comment.
    named.delete('PERDURE_URL')

    expect([...named].filter((name) => !fields.has(name)).toSorted()).toEqual(
      [...ofProxy, ...new Set(referenced)].toSorted(),
    )
  })

  it('configures proxies with timeouts above the heartbeat interval and a body limit above that of the server', () => {
    const [timeout] = directive('proxy_read_timeout', nginx)
    const [body] = directive('client_max_body_size', nginx)

    expect([timeout, body]).toEqual(['1h', '2m'])
    expect(3_600_000).toBeGreaterThan(defaultOf('realtime.sseHeartbeatMs'))
    expect(3_600_000).toBeGreaterThan(defaultOf('realtime.webSocket.heartbeatMs'))
    expect(2 * 1_048_576).toBeGreaterThan(defaultOf('server.bodyLimitBytes'))
  })
})

describe('the Dockerfile', () => {
  it('passes its linter', () => {
    expect(validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([])
  })

  it('uses the plain base image and leaves build-only content behind', () => {
    const images = DockerfileParser.parse(dockerfile).getFROMs()

    expect(images.map((image) => image.getImage())).toEqual(['node:24-slim', 'node:24-slim'])
    expect(images.at(-1)?.getBuildStage()).toBeNull()
  })

  it('runs the command directly as an unprivileged user and checks its health', () => {
    const instructions = DockerfileParser.parse(dockerfile).getInstructions()
    const argumentsOf = (keyword: string) =>
      instructions.filter((one) => one.getKeyword() === keyword).map((one) => one.getArgumentsContent())

    expect(argumentsOf('USER')).toEqual(['node'])
    expect(argumentsOf('ENTRYPOINT')).toEqual(['["perdure"]'])
    expect(argumentsOf('HEALTHCHECK')).toEqual([expect.stringContaining('CMD perdure health ')])
  })
})

describe('compose.yaml', () => {
  it('refers only to volumes, secrets and services that it defines', () => {
    const mounted = Object.values(services).flatMap((service) => service.volumes.map((volume) => volume.split(':')[0]))

    expect(mounted.filter((name) => !name?.startsWith('./')).toSorted()).toEqual(Object.keys(volumes).toSorted())
    expect(services.perdure.secrets).toEqual(Object.keys(secrets))
    expect(Object.keys(services.caddy.depends_on ?? {})).toEqual(['perdure'])
  })
})

describe('compose.postgres.yaml', () => {
  const { caddy, postgres, 'perdure-1': first, 'perdure-2': second, 'perdure-3': third } = onPostgres.services
  const servers = [first, second, third]

  it('differs from compose.yaml only in what PostgreSQL and several servers need', () => {
    const { depends_on, environment, volumes: mounted, ...rest } = first
    const { environment: before, volumes: mountedBefore, ...restBefore } = services.perdure

    expect(rest).toEqual(restBefore)
    expect(environment).toMatchObject({ ...before, PERDURE_STORAGE_CLUSTER: 'true' })
    expect(mounted.map((volume) => volume.split(':')[1])).toEqual(
      expect.arrayContaining(mountedBefore.map((volume) => volume.split(':')[1])),
    )
    expect(depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
  })

  it('runs three equal servers, each with a volume of its own, behind the proxy', () => {
    const [same, ...others] = servers.map(({ volumes: _, ...rest }) => rest)

    for (const other of others) expect(other).toEqual(same)
    expect(new Set(servers.map((server) => server.volumes.find((volume) => volume.endsWith(':/data')))).size).toBe(3)
    expect(caddy.environment.PERDURE_UPSTREAMS?.split(' ')).toEqual(
      ['perdure-1', 'perdure-2', 'perdure-3'].map((name) => `${name}:${defaultOf('server.port')}`),
    )
    expect(caddy.volumes).toContain('./Caddyfile.cluster:/etc/caddy/Caddyfile:ro')
    expect(clusterCaddyfile).toContain('health_uri /v1/health/ready')
  })

  it('refers only to volumes and secrets that it defines', () => {
    const named = Object.values(onPostgres.services).flatMap((service) =>
      service.volumes.map((one) => one.split(':')[0]),
    )

    expect([...new Set(named)].filter((name) => !name?.startsWith('./')).toSorted()).toEqual(
      Object.keys(onPostgres.volumes).toSorted(),
    )
    expect(first.secrets).toEqual(Object.keys(onPostgres.secrets))
  })

  it('lets only the servers reach the database, over a socket that all of them mount', () => {
    const [folder] = /(?<=host=).*/.exec(first.environment.DATABASE_URL ?? '') ?? []

    expect(postgres.network_mode).toBe('none')
    expect([...servers, postgres].every((one) => one.volumes.includes(`socket:${folder}`))).toBe(true)
    expect(caddy.volumes.some((volume) => volume.startsWith('socket:'))).toBe(false)
  })

  it('resets the file names of the image, which a server with PostgreSQL refuses', () => {
    const fieldOf = (env: string) => configFields.find((field) => field.env === env)
    const files = directive('PERDURE_(?:STORAGE|AUDIT)_PATH', dockerfile)

    expect(files).toHaveLength(2)
    for (const name of ['PERDURE_STORAGE_PATH', 'PERDURE_AUDIT_PATH']) {
      expect(first.environment[name]).toBe(fieldOf(name)?.default)
    }
  })
})

describe('kubernetes.postgres.yaml', () => {
  const documents = yaml<Deployment | Budget | Service>('kubernetes.postgres.yaml')
  const find = <Kind extends (typeof documents)[number]['kind']>(kind: Kind) =>
    documents.find((one) => one.kind === kind) as Extract<(typeof documents)[number], { readonly kind: Kind }>
  const { spec: shared } = find('Deployment')
  const [server] = shared.template.spec.containers

  it('runs three servers, of which rollouts and evictions take one at a time', () => {
    expect([shared.replicas, shared.strategy]).toEqual([
      3,
      { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
    ])
    expect(find('PodDisruptionBudget').spec).toEqual({ maxUnavailable: 1, selector: shared.selector })
    expect(find('Service').spec.selector).toEqual(shared.template.metadata.labels)
  })

  it('differs from kubernetes.yaml only in what PostgreSQL and several servers need', () => {
    const { spec } = shared.template
    const ownParts = { containers: [], volumes: [], securityContext: {}, topologySpreadConstraints: [] }

    expect({ ...server, env: [] }).toEqual({ ...container, env: [] })
    expect(server.env).toEqual(expect.arrayContaining([...container.env]))
    expect({ ...spec, ...ownParts }).toEqual({ ...pod, ...ownParts })
    expect(pod.securityContext).toMatchObject(spec.securityContext)
    expect(spec.volumes.every(({ persistentVolumeClaim: claim }) => claim === undefined)).toBe(true)
  })
})

describe('kubernetes.yaml', () => {
  it('never runs two servers on one disk', () => {
    expect([deployment.replicas, deployment.strategy.type]).toEqual([1, 'Recreate'])
  })

  it('refers only to labels, volumes and claims that it defines', () => {
    const { labels } = deployment.template.metadata

    expect([deployment.selector.matchLabels, ofKind('Service').spec.selector]).toEqual([labels, labels])
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      pod.volumes.map(({ name }) => name).toSorted(),
    )
    expect(pod.volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? [])).toEqual([
      ofKind('PersistentVolumeClaim').metadata.name,
    ])
  })

  it('mounts the disk where the image stores the database', () => {
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain('/data')
    expect(dockerfile).toContain('PERDURE_STORAGE_PATH=/data/')
  })

  it('probes less often than the rate limit allows, and allows five minutes for startup', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container
    const perMinute = [livenessProbe, readinessProbe].reduce((sum, { periodSeconds }) => sum + 60 / periodSeconds, 0)

    expect(perMinute).toBeLessThan(defaultOf('server.rateLimit.perIpRequests'))
    expect(60 / startupProbe.periodSeconds).toBeLessThan(defaultOf('server.rateLimit.perIpRequests'))
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBe(300)
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual(
      ['live', 'live', 'ready'].map((name) => `/v1/health/${name}`),
    )
  })

  it('drops all privileges of the server', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })
})

needsTool('systemd-analyze').describe('perdure.service', () => {
  /** Points the unit at an existing command, because the analyzer checks that it exists. */
  function placedUnit(): string {
    const root = mkdtempSync(join(tmpdir(), 'perdure-unit-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const command = join(root, 'opt/perdure/node_modules/.bin/perdure')
    mkdirSync(dirname(command), { recursive: true })
    writeFileSync(command, '#!/bin/sh\n')
    chmodSync(command, 0o755)
    const path = join(root, 'perdure.service')
    writeFileSync(path, unit.replaceAll('/opt/perdure', join(root, 'opt/perdure')))
    return path
  }

  const analyze = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(toolPath('systemd-analyze'), args, { encoding: 'utf8' })
    return { status, stdout, stderr }
  }

  it('is accepted by systemd', () => {
    expect(analyze('verify', '--man=no', '--recursive-errors=no', placedUnit())).toEqual({
      ...{ status: 0, stdout: '', stderr: '' },
    })
  })

  it('has a low exposure score', () => {
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=20', placedUnit())

    expect({ status, stdout }).toMatchObject({ status: 0 })
  })
})
