/** The settings of access logs and statistics: how an edge hands them over, and how control keeps them. */
import { byteSize, oneOf, serverUrl, textThat, urlThat, wholeNumber } from '#lib/setting-reader.ts';
import type { ConfigTable } from '#lib/settings.ts';

export const LOG_SETTINGS = {
  accessLog: {
    reader: oneOf(['on', 'off']),
    default: 'on',
    description: '`off`: the edge writes no access log and counts no traffic, so there are no log files or statistics',
  },
  logRotateSeconds: {
    reader: wholeNumber(1, 3600),
    default: '3600',
    unit: 'seconds',
    description:
      'Age at which an edge closes an access-log file and sends it to control; files are also closed at every full hour',
  },
  logSpool: {
    reader: byteSize('64MB', '1024GB'),
    default: '8GB',
    description:
      'Disk space for access-log files not yet sent to control, for all edge workers together; the oldest are dropped first',
  },
  sinkSpool: {
    reader: byteSize('64MB', '1024GB'),
    default: '1GB',
    description:
      'Disk space for access-log files that sinks have not been sent yet; the oldest are dropped first. Files that are not sent to control yet take it only once',
  },
  logStore: {
    reader: textThat(
      'local, or s3://bucket or s3://bucket/prefix',
      /^(local|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]{1,64}){0,4})$/,
    ),
    default: 'local',
    description: 'Where control stores log files and recordings: `local` (the data directory) or S3-compatible storage',
  },
  logStoreShared: {
    reader: oneOf(['true', 'false']),
    default: 'false',
    description:
      '`true`: the directory of the local log store is on storage that all controls of the database share. Several controls need this or S3',
  },
  logS3Endpoint: {
    reader: serverUrl(),
    description: 'Endpoint of the S3 storage; the bucket is part of the path',
  },
  logS3Region: {
    reader: textThat('letters, digits and hyphens', /^[a-z0-9-]{1,64}$/),
    default: 'us-east-1',
    description: 'Region of the S3 storage',
  },
  logS3AccessKey: {
    reader: textThat('an access key', /^[\x21-\x7e]{1,256}$/),
    secret: true,
    description: 'Access key of the S3 storage',
  },
  logS3SecretKey: {
    reader: textThat('a secret key', /^[\x21-\x7e]{1,256}$/),
    secret: true,
    description: 'Secret key of the S3 storage',
  },
  statSeconds: {
    reader: wholeNumber(1, 3600),
    default: '30',
    unit: 'seconds',
    description: 'How often an edge reports its traffic to control',
  },
  logDays: {
    reader: wholeNumber(1, 3650),
    default: '30',
    unit: 'days',
    description: 'How long log files are kept',
  },
  logUrl: {
    reader: urlThat('http:// or https://, a host, and perhaps a path', /^https?:\/\/[^\s/@?#]+(\/[^\s?#]*)?$/),
    description: 'Base URL of downloads (log files, recordings) in answers; by default that of the control listener',
  },
  logUrlHours: {
    reader: wholeNumber(1, 168),
    default: '24',
    unit: 'hours',
    description: 'How long a download URL is valid',
  },
} satisfies ConfigTable;
