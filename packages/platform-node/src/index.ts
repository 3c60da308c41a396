export { createAsyncNesting } from './async-nesting.ts'
export { createDirectoryBlobStore, type DirectoryBlobStoreOptions } from './blobs/directory-blob-store.ts'
export { openS3BlobStore, type S3BlobStoreOptions } from './blobs/s3-blob-store.ts'
export {
  type CheckpointFile,
  type CheckpointFileOptions,
  createCheckpointFile,
  keepCheckpoints,
} from './checkpoint-file.ts'
export { createCronSchedule } from './cron/cron-schedule.ts'
export { type DescriptorUse, readDescriptorUse } from './descriptor-use.ts'
export { createHookVerifiers } from './hooks/hook-verifiers.ts'
export { createIdGenerator, type IdGeneratorOptions } from './id-generator.ts'
export { createJwtVerifier, type JwtVerifierOptions } from './jwt/jwt-verifier.ts'
export type { LogDestination, ProcessStream } from './log-destination.ts'
export { createLogger, type LoggerOptions, type LogStream } from './logger.ts'
export { nodeDigest } from './node-digest.ts'
export { createNodeSealer } from './node-sealer.ts'
export { openSignInProvider, type SignInProviderOptions } from './oidc/open-sign-in-provider.ts'
export { openTracer, type TracerOptions } from './open-telemetry-tracer.ts'
export { createRemoteFiles, type RemoteFilesOptions } from './outbound/remote-files.ts'
export { createPrometheusMeter } from './prometheus-meter.ts'
export { envSecretResolver } from './secrets/env-secret-resolver.ts'
export { type FileSecretResolverOptions, fileSecretResolver } from './secrets/file-secret-resolver.ts'
export { type Keyring, keyringSecretResolver } from './secrets/keyring-secret-resolver.ts'
export { type SecretResolversOptions, secretResolvers } from './secrets/secret-resolvers.ts'
export { openServerLog, type ServerLog, type ServerLogOptions, unbufferedLog } from './server-log.ts'
export { createFileSkillStore, type FileSkillStoreOptions } from './skills/file-skill-store.ts'
export { systemClock } from './system-clock.ts'
export { systemTimers, yieldTurn } from './system-timers.ts'
export { openVitals, type Vitals } from './vitals.ts'
export {
  createWatchdog,
  noWatchdog,
  type Watchdog,
  type WatchdogOptions,
  type WatchedLoop,
} from './watchdog/watchdog.ts'
export { createWebhookSender, type WebhookSenderOptions } from './webhooks/webhook-sender.ts'
