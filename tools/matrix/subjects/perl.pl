#!/usr/bin/perl
# Perl's WWW::RobotRules as a subject: perl.pl NAME [JSON]. The JSON overrides what "start" answers.
# It gets the file's bytes, as LWP::RobotUA gives it them.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 qw(decode_base64);
use WWW::RobotRules;

my $SITE = 'https://example.com';
my $LONGEST_ERROR = 300;

# Nothing but answers goes to standard output.
open my $answers, '>&', \*STDOUT or die $!;
open STDOUT, '>&', \*STDERR or die $!;
$answers->autoflush(1);

my $json = JSON::PP->new->utf8->canonical;
my %about = (
    name => $ARGV[0],
    version => $WWW::RobotRules::VERSION,
    language => 'Perl',
    dialects => ['rfc9309'],
    %{ $json->decode($ARGV[1] // '{}') },
);

while (my $line = <STDIN>) {
    # JSON::PP dies of half a surrogate pair.
    $line =~ s/(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f]../$1 \/\/ '\\ufffd'/gie;
    my $asked = $json->decode($line);
    last if $asked->{cmd} eq 'stop';
    my $reply = $asked->{cmd} eq 'start' ? \%about : reply($asked);
    print {$answers} $json->encode($reply), "\n";
}

sub reply {
    my ($asked) = @_;
    my $dialect = $asked->{dialect};
    return { id => $asked->{id}, skipped => "does not claim to follow $dialect" }
        unless grep { $_ eq $dialect } @{ $about{dialects} };
    my $allowed = eval { decide($asked) };
    return { id => $asked->{id}, allowed => $allowed } if $allowed;
    my $error = join ' ', split ' ', $@;
    return { id => $asked->{id}, error => substr $error, 0, $LONGEST_ERROR };
}

sub decide {
    my ($asked) = @_;
    my $robots = decode_base64($asked->{robots});
    my $rules = WWW::RobotRules->new($asked->{agent});
    my %parsed;
    my @allowed;
    for my $asked_url (@{ $asked->{urls} }) {
        my $url = $asked_url =~ m{^(?![^/?])} ? $SITE . $asked_url : $asked_url;
        my $site = $url =~ m{^([A-Za-z][A-Za-z0-9+.-]*://[^/?\#]*)} ? $1 : $SITE;
        $rules->parse("$site/robots.txt", $robots) unless $parsed{$site}++;
        push @allowed, $rules->allowed($url) ? JSON::PP::true : JSON::PP::false;
    }
    return \@allowed;
}
